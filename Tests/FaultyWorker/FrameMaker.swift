import TestSupport
import TrawlHTTP
import TrawlProtocol

/// Frames of all kinds, and what becomes of them when bytes change. The same seed makes the same frames.
struct FrameMaker {
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// A well-formed message about a lease. It never needs a descriptor and is never a greeting.
    mutating func message(lease: UInt64) -> WorkerMessage {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return .interim(lease: lease, head(status: .random(in: 102...199, using: &random)))
        case 1:
            return .head(
                lease: lease, head(status: .random(in: 200...599, using: &random)),
                asks: .random(using: &random) ? .disposition : [])
        case 2: return .data(lease: lease, bytes(1...200))
        case 3:
            let failure = HopFailure(
                HopFailure.Kind.allCases.randomElement(using: &random) ?? .inactive,
                curlCode: .random(in: 0...99, using: &random), systemError: .random(in: 0...133, using: &random),
                requestSent: .random(using: &random), detail: "made up")
            return .ended(LeaseEnd(lease: lease, outcome: .failed(failure)))
        case 4:
            let delivery: [BodyDelivery] = [
                .discarded(length: random.next()), .file(length: random.next()), .descriptor(length: random.next()),
                .streamed(length: random.next()),
            ]
            var end = LeaseEnd(
                lease: lease, outcome: .complete(delivery.randomElement(using: &random) ?? .discarded(length: 0)),
                head: head(status: 200))
            end.decoded = ["gzip"]
            return .ended(end)
        case 5: return .unshared(lease: lease)
        case 6:
            let wish = MemoryWish(
                holding: .random(in: 0...9, using: &random), total: random.next(),
                isWhole: .random(using: &random))
            return .wants(lease: lease, wish)
        case 7: return .forwards(lease: lease, head(status: 200).fields)
        case 8:
            return .ended(
                LeaseEnd(
                    lease: lease,
                    outcome: .givenUp(requestSent: .random(using: &random), kept: random.next(), isPassed: false)))
        default:
            var end = LeaseEnd(lease: lease, outcome: .complete(.inline(bytes(0...400))), head: head(status: 200))
            try? end.trailers.append("X-Trailer", "value")
            end.metrics.remoteAddress = "127.0.0.1"
            return .ended(end)
        }
    }

    /// A well-formed message about connections: of origins that there are, and of some that there are not.
    mutating func connectionMessage() -> WorkerMessage {
        Bool.random(using: &random)
            ? .connections(origin: .random(in: 0...9, using: &random), open: .random(in: 0...(.max), using: &random))
            : .closed(connection: .random(in: 0...99, using: &random))
    }

    /// A mutated frame; it may decode or not.
    mutating func mutated(_ frame: [UInt8]) -> [UInt8] {
        var frame = frame
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let position = Int.random(in: 0..<frame.count, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2: frame[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 3: frame[position] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            case 4: frame[position] = .random(in: 0...255, using: &random)
            case 5:
                // A run of the frame is said twice.
                let end = min(frame.count, position + 16)
                frame.insert(contentsOf: frame[position..<end], at: position)
                setLength(&frame)
            case 6:
                guard position >= WireProtocol.headerLength else { continue }
                frame.remove(at: position)
                setLength(&frame)
            default:
                guard position >= WireProtocol.headerLength else { continue }
                frame.removeSubrange(position...)
                setLength(&frame)
            }
        }
        return frame
    }

    /// A frame of random kind and payload.
    mutating func random(payload: ClosedRange<Int> = 0...300) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: WireProtocol.headerLength) + bytes(payload)
        // Every kind that a worker sends.
        frame[4] = .random(in: 16...25, using: &random)
        setLength(&frame)
        return frame
    }

    /// Random bytes.
    mutating func bytes(_ count: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: count, using: &random)).map { _ in .random(in: 0...255, using: &random) }
    }

    /// A random word; the least and the greatest come more often.
    mutating func word() -> UInt64 { random.integer() }

    /// A random id of a lease.
    mutating func lease() -> UInt64 { random.next() }

    private mutating func head(status: UInt16) -> ResponseHead {
        var fields = FieldLines()
        try? fields.append("Content-Type", "text/plain")
        try? fields.append("X-Number", String(UInt32.random(in: 0...(.max), using: &random)))
        return ResponseHead(status: status, version: .http1_1, reason: "So", fields: fields)
    }

    private func setLength(_ frame: inout [UInt8]) {
        guard frame.count >= WireProtocol.headerLength else { return }
        let length = UInt32(frame.count - WireProtocol.headerLength).littleEndian
        withUnsafeBytes(of: length) { frame.replaceSubrange(0..<4, with: $0) }
    }
}

/// What the coordinator will make of the bytes of one frame.
enum Reading {
    case message(WorkerMessage)
    /// It breaks the protocol.
    case error
    /// Its header asks for more bytes than there are.
    case incomplete

    init(_ frame: [UInt8]) {
        var incoming = IncomingFrames()
        _ = incoming.fill(minimum: frame.count) { buffer in
            buffer.copyBytes(from: frame)
            return frame.count
        }
        do throws(FrameError) {
            guard let (message, _) = try incoming.next(WorkerMessage.read) else {
                self = .incomplete
                return
            }
            self = incoming.count == 0 ? .message(message) : .incomplete
        } catch {
            self = .error
        }
    }
}

extension WorkerMessage {
    /// The lease it speaks of; nil for a greeting and for news of connections.
    var lease: UInt64? {
        switch self {
        case .ready, .connections, .closed: nil
        case .interim(let lease, _), .head(let lease, _, _, _), .data(let lease, _), .unshared(let lease),
            .wants(let lease, _), .forwards(let lease, _):
            lease
        case .ended(let end): end.lease
        }
    }
}
