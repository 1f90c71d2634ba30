/// How a hop ended.
package enum HopOutcome: Sendable, Hashable {
    /// The response is whole, and its body is there.
    case complete(BodyDelivery)
    /// There is no usable response.
    case failed(HopFailure)
    /// The transfer was given up, as its coordinator ordered, because its peer did not wait while it rested, or because
    /// its lease lets it send the request once; another lease may go on with it.
    ///
    /// - Parameters:
    ///   - requestSent: Whether bytes of the request may have reached the server.
    ///   - kept: Bytes of the body, from its first on, that are where the sink's go.
    ///   - isPassed: Whether these are in a file whose descriptor came with the frame.
    case givenUp(requestSent: Bool, kept: UInt64, isPassed: Bool)

    /// How many descriptors travel with the frame.
    var descriptorCount: Int {
        switch self {
        case .complete(.memory), .complete(.unnamed), .givenUp(_, _, isPassed: true): 1
        case .complete, .failed, .givenUp: 0
        }
    }

    func write(to writer: inout WireWriter) {
        switch self {
        case .complete(.discarded(let length)):
            writer.write(UInt8(0))
            writer.write(length)
        case .complete(.inline(let bytes)):
            writer.write(UInt8(1))
            writer.write(bytes)
        case .complete(.memory(let length)):
            writer.write(UInt8(2))
            writer.write(length)
        case .complete(.file(let length, let name, let isAdopted)):
            writer.write(UInt8(3))
            writer.write(length)
            writer.write(name ?? "")
            writer.write(isAdopted)
        case .complete(.unnamed(let length, let name)):
            writer.write(UInt8(8))
            writer.write(length)
            writer.write(name ?? "")
        case .complete(.descriptor(let length)):
            writer.write(UInt8(4))
            writer.write(length)
        case .complete(.streamed(let length)):
            writer.write(UInt8(5))
            writer.write(length)
        case .failed(let failure):
            writer.write(UInt8(6))
            failure.write(to: &writer)
        case .givenUp(let requestSent, let kept, let isPassed):
            writer.write(UInt8(7))
            writer.write(requestSent)
            writer.write(kept)
            writer.write(isPassed)
        }
    }

    static func read(from reader: inout WireReader) throws(FrameError) -> HopOutcome {
        switch try reader.byte() {
        case 0: return .complete(.discarded(length: try reader.uint64()))
        case 1:
            let bytes = try reader.data()
            guard bytes.count <= WireProtocol.maximumInlineBody else { throw .invalid(.body) }
            return .complete(.inline(bytes))
        case 2: return .complete(.memory(length: try reader.uint64()))
        case 3:
            return .complete(
                .file(length: try reader.uint64(), name: try reader.relativePath(), isAdopted: try reader.bool()))
        case 4: return .complete(.descriptor(length: try reader.uint64()))
        case 5: return .complete(.streamed(length: try reader.uint64()))
        case 6: return .failed(try HopFailure(from: &reader))
        case 7:
            return .givenUp(
                requestSent: try reader.bool(), kept: try reader.uint64(), isPassed: try reader.bool())
        case 8: return .complete(.unnamed(length: try reader.uint64(), name: try reader.relativePath()))
        default: throw .invalid(.outcome)
        }
    }
}
