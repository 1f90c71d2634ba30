package import TrawlHTTP

/// A frame from a worker to the coordinator.
package enum WorkerMessage: Sendable, Hashable {
    case ready(Ready)
    /// A 1xx response.
    case interim(lease: UInt64, ResponseHead)
    /// The final head; the transfer rests until an answer comes, or does not. A stored one is of a response that no
    /// server was asked about, or answered.
    case head(lease: UInt64, ResponseHead, asks: HeadQuestions, isStored: Bool = false)
    /// A piece of a streamed body.
    case data(lease: UInt64, [UInt8])
    case ended(LeaseEnd)
    /// What comes will not be stored, or is of no use to others when it is: nobody else need wait for it.
    case unshared(lease: UInt64)
    /// How many connections to the origin of that number are open: fewer than was said last, or it was asked.
    case connections(origin: UInt32, open: UInt16)
    /// A metered body is to become longer than it has room for: it has so many bytes, and wants room for so many in
    /// all.
    case wants(lease: UInt64, MemoryWish)
    /// The worker closed a connection of that number that no lease was using, where the coordinator wants to know.
    case closed(connection: UInt32)
    /// A request goes out, with these field lines of the cache beside or in place of those of the lease.
    case forwards(lease: UInt64, FieldLines)

    /// The bit of a `head` whose response is a stored one, beside those of its `HeadQuestions`.
    private static let storedBit: UInt8 = 4

    /// How many descriptors travel with the frame.
    package var descriptorCount: Int {
        if case .ended(let end) = self { return end.outcome.descriptorCount }
        return 0
    }

    /// Appends the message as a frame.
    ///
    /// - Returns: False when it is longer than a frame may be; then nothing was written.
    package func write(to writer: inout WireWriter) -> Bool {
        switch self {
        case .ready(let ready):
            return writer.frame(.ready) { payload in
                payload.write(WireProtocol.magic)
                payload.write(ready.version)
                payload.write(ready.build)
                payload.write(ready.segmentLayout)
                payload.write(ready.processID)
            }
        case .interim(let lease, let head):
            return writer.frame(.interim) { payload in
                payload.write(lease)
                payload.write(head)
            }
        case .head(let lease, let head, let questions, let isStored):
            return writer.frame(.head) { payload in
                payload.write(lease)
                payload.write(questions.rawValue | (isStored ? Self.storedBit : 0))
                payload.write(head)
            }
        case .data(let lease, let bytes):
            return bytes.withUnsafeBytes { Self.writeData(lease: lease, $0, to: &writer) }
        case .ended(let end):
            return Self.writeEnd(end, to: &writer)
        case .unshared(let lease):
            return writer.frame(.unshared) { $0.write(lease) }
        case .connections(let origin, let open):
            return writer.frame(.connections) { payload in
                payload.write(origin)
                payload.write(open)
            }
        case .wants(let lease, let wish):
            return writer.frame(.wants) { payload in
                payload.write(lease)
                payload.write(wish.holding)
                payload.write(wish.total)
                payload.write(wish.isWhole)
            }
        case .closed(let connection):
            return writer.frame(.closed) { $0.write(connection) }
        case .forwards(let lease, let fields):
            return writer.frame(.forwards) { payload in
                payload.write(lease)
                payload.write(fields)
            }
        }
    }

    /// Appends an `ended` frame without the message in between, which is the largest there is.
    ///
    /// - Returns: False when it is longer than a frame may be; then nothing was written.
    package static func writeEnd(_ end: LeaseEnd, to writer: inout WireWriter) -> Bool {
        writer.frame(.ended, descriptors: end.outcome.descriptorCount) { end.write(to: &$0) }
    }

    /// Appends a `data` frame without an array in between.
    ///
    /// - Parameter bytes: 1 to `WireProtocol.maximumInlineBody` bytes.
    /// - Returns: As `write(to:)`.
    package static func writeData(lease: UInt64, _ bytes: UnsafeRawBufferPointer, to writer: inout WireWriter) -> Bool {
        return writer.frame(.data) { payload in
            payload.write(lease)
            payload.write(bytes)
        }
    }

    /// The message of a frame. (No initializer: what one made that can fail half-way is copied.)
    package static func read(_ frame: FrameBuffer.Frame) throws(FrameError) -> WorkerMessage {
        var reader = WireReader(frame.payload)
        let message: WorkerMessage
        switch WireProtocol.Kind(rawValue: frame.kind) {
        case .ready:
            guard try reader.uint32() == WireProtocol.magic else { throw .invalid(.magic) }
            let version = try reader.uint16()
            guard version == WireProtocol.version else {
                guard frame.descriptors == 0 else { throw .descriptorCount }
                // Another version's layout is not known here; the number is enough to say what is wrong.
                return .ready(Ready(version: version, build: "", segmentLayout: 0, processID: 0))
            }
            message = .ready(
                Ready(
                    version: version, build: try reader.text(), segmentLayout: try reader.uint32(),
                    processID: try reader.uint32()))
        case .interim:
            let lease = try reader.uint64()
            let head = try reader.head()
            guard head.isInterim else { throw .invalid(.status) }
            message = .interim(lease: lease, head)
        case .head:
            let lease = try reader.uint64()
            let bits = try reader.byte()
            let questions = HeadQuestions(rawValue: bits & ~storedBit)
            guard questions.isSubset(of: .all) else { throw .reservedBits }
            let head = try reader.head()
            guard !head.isInterim else { throw .invalid(.status) }
            message = .head(lease: lease, head, asks: questions, isStored: bits & storedBit != 0)
        case .data:
            let lease = try reader.uint64()
            let bytes = try reader.data()
            guard !bytes.isEmpty, bytes.count <= WireProtocol.maximumInlineBody else { throw .invalid(.length) }
            message = .data(lease: lease, bytes)
        case .ended: return .ended(try readEnd(frame))
        case .unshared: message = .unshared(lease: try reader.uint64())
        case .connections: message = .connections(origin: try reader.uint32(), open: try reader.uint16())
        case .wants:
            let lease = try reader.uint64()
            let wish = MemoryWish(
                holding: try reader.uint64(), total: try reader.uint64(), isWhole: try reader.bool())
            message = .wants(lease: lease, wish)
        case .closed: message = .closed(connection: try reader.uint32())
        case .forwards: message = .forwards(lease: try reader.uint64(), try reader.fields())
        case .hello, .profile, .lease, .answer, .cancel, .credit, .drain, .release, .order, nil:
            throw .unknownKind(frame.kind)
        }
        try reader.finish(frame)
        return message
    }

    /// What an `ended` frame says, without the message around it.
    static func readEnd(_ frame: FrameBuffer.Frame) throws(FrameError) -> LeaseEnd {
        var reader = WireReader(frame.payload)
        let end = try LeaseEnd.read(from: &reader)
        try reader.finish(frame, descriptors: end.outcome.descriptorCount)
        return end
    }
}
