import TestSupport
import Testing

@testable import TrawlProtocol

@Suite("Cutting a stream into frames")
struct FrameBufferTests {
    private static let coordinatorStream: [CoordinatorMessage] = {
        var random = SeededGenerator(seed: 11)
        return (0..<CoordinatorMessage.kinds * 2).map { .random(kind: $0 % CoordinatorMessage.kinds, using: &random) }
    }()
    private static let workerStream: [WorkerMessage] = {
        var random = SeededGenerator(seed: 12)
        return (0..<WorkerMessage.kinds * 2).map { .random(kind: $0 % WorkerMessage.kinds, using: &random) }
    }()

    @Test("a coordinator's stream split at any one place gives the same messages")
    func coordinatorSplits() throws {
        let bytes = Self.coordinatorStream.flatMap { frame($0) }
        for split in 0...bytes.count {
            var buffer = FrameBuffer()
            var messages: [CoordinatorMessage] = []
            for part in [bytes[..<split], bytes[split...]] {
                buffer.receive(part)
                while let message = try buffer.next(CoordinatorMessage.read) { messages.append(message) }
            }
            #expect(messages == Self.coordinatorStream, "split at \(split)")
            #expect(buffer.count == 0)
        }
    }

    @Test("a worker's stream split at any one place gives the same messages")
    func workerSplits() throws {
        let bytes = Self.workerStream.flatMap { frame($0) }
        for split in 0...bytes.count {
            var buffer = FrameBuffer()
            var messages: [WorkerMessage] = []
            for part in [bytes[..<split], bytes[split...]] {
                buffer.receive(part)
                while let message = try buffer.next(WorkerMessage.read) { messages.append(message) }
            }
            #expect(messages == Self.workerStream, "split at \(split)")
        }
    }

    @Test("a stream that comes byte by byte gives the same messages")
    func byteByByte() throws {
        var buffer = FrameBuffer(capacity: 0)
        var messages: [WorkerMessage] = []
        for byte in Self.workerStream.flatMap({ frame($0) }) {
            buffer.receive([byte])
            while let message = try buffer.next(WorkerMessage.read) { messages.append(message) }
        }
        #expect(messages == Self.workerStream)
    }

    @Test("a frame without its last bytes is no frame yet")
    func incomplete() throws {
        for message in Self.coordinatorStream {
            let bytes = frame(message)
            for length in 0..<bytes.count { #expect(try coordinatorMessages(bytes[..<length]).isEmpty) }
        }
    }

    @Test("the longest frame passes through a small buffer, among others, and memory is given back after it")
    func longest() throws {
        let payload = [UInt8](repeating: 1, count: WireProtocol.maximumPayload)
        let bytes = frame(CoordinatorMessage.drain) + frame(kind: 200, payload) + frame(CoordinatorMessage.drain)
        var buffer = FrameBuffer(capacity: 4096)
        var lengths: [Int] = []
        for start in stride(from: 0, to: bytes.count, by: 50_000) {
            buffer.receive(bytes[start..<min(start + 50_000, bytes.count)])
            while let length = try buffer.next({ $0.payload.count }) { lengths.append(length) }
            #expect(buffer.storage.count <= 3 * WireProtocol.maximumPayload)
        }
        #expect(lengths == [0, WireProtocol.maximumPayload, 0])
        #expect(buffer.storage.count <= 1 << 20)
    }

    @Test("an oversize frame is refused by its header, before its payload comes")
    func oversize() {
        var buffer = FrameBuffer()
        buffer.receive(little(UInt32(WireProtocol.maximumPayload + 1)) + [7, 0, 0, 0])
        #expect(throws: FrameError.oversize(UInt32(WireProtocol.maximumPayload + 1))) {
            try buffer.next(CoordinatorMessage.read)
        }
        buffer = FrameBuffer()
        buffer.receive([0xFF, 0xFF, 0xFF, 0xFF, 7, 0, 0, 0])
        #expect(throws: FrameError.oversize(.max)) { try buffer.next(CoordinatorMessage.read) }
    }

    @Test("reserved bytes that are not zero are refused", arguments: [(1, 0), (0, 1), (0, 0x80)] as [(UInt8, UInt8)])
    func reserved(bytes: (UInt8, UInt8)) {
        #expect(throws: FrameError.reservedBits) { try coordinatorMessages(frame(kind: 7, reserved: bytes, [])) }
    }

    @Test("more descriptors than a frame may have are refused by its header")
    func tooManyDescriptors() {
        #expect(throws: FrameError.descriptorCount) { try coordinatorMessages(frame(kind: 7, descriptors: 5, [])) }
    }

    @Test("an error of the reader leaves the buffer as it was")
    func readerFails() throws {
        struct Broken: Error, Equatable {}
        var buffer = FrameBuffer()
        #expect(throws: Broken()) { try buffer.fill { (_) throws(Broken) in throw Broken() } }
        #expect(buffer.count == 0)
        buffer.receive(frame(CoordinatorMessage.drain))
        let message = try buffer.next(CoordinatorMessage.read)
        #expect(message == .drain)
    }
}
