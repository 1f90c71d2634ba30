import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlProtocol

@Suite("Frames with descriptors")
struct DescriptorFrameTests {
    @Test("a frame with descriptors starts a stretch of its own")
    func stretches() {
        var outgoing = OutgoingFrames()
        let plain = frame(CoordinatorMessage.cancel(lease: 1))
        let one = lease(1, body: .none)
        let two = lease(2, body: .descriptor(length: 5))
        _ = outgoing.append(.cancel(lease: 1))
        _ = outgoing.append(.cancel(lease: 1))
        _ = outgoing.append(one, descriptors: [7])
        _ = outgoing.append(two, descriptors: [8, 9])
        _ = outgoing.append(.cancel(lease: 1))
        #expect(
            sendAll(&outgoing) == [
                Sent(plain + plain, []), Sent(frame(one), [7]), Sent(frame(two) + plain, [8, 9]),
            ])
        #expect(outgoing.isEmpty)
    }

    @Test("descriptors leave with the first byte and once, however little a call sends")
    func partial() {
        var outgoing = OutgoingFrames()
        let message = lease(1, body: .none)
        _ = outgoing.append(.drain)
        _ = outgoing.append(message, descriptors: [7])
        _ = outgoing.append(.drain)
        var released: [[Int32]] = []
        var bytes: [UInt8] = []
        while !outgoing.isEmpty {
            let part = outgoing.withNextStretch { stretch, descriptors in
                // A call that sent nothing took no descriptor along.
                #expect(descriptors == (bytes.count == 8 ? [7] : []))
                return stretch[0]
            }
            let none = outgoing.sent(0)
            #expect(none == [])
            bytes.append(part)
            released.append(outgoing.sent(1))
        }
        #expect(bytes == frame(CoordinatorMessage.drain) + frame(message) + frame(CoordinatorMessage.drain))
        #expect(released.flatMap(\.self) == [7])
        #expect(released.firstIndex(of: [7]) == 8)
    }

    @Test("nothing waiting is an empty stretch")
    func empty() {
        let outgoing = OutgoingFrames()
        #expect(outgoing.isEmpty)
        #expect(outgoing.withNextStretch { bytes, descriptors in bytes.isEmpty && descriptors.isEmpty })
    }

    @Test("pieces of a stream become one message, up to its limit, while nothing of it is sent and nothing is behind")
    func gathering() throws {
        var outgoing = OutgoingFrames()
        func add(_ lease: UInt64, _ bytes: [UInt8]) {
            let wasAdded = bytes.withUnsafeBytes { outgoing.appendData(lease: lease, $0) }
            #expect(wasAdded)
        }
        func content() throws -> [WorkerMessage] {
            try workerMessages(outgoing.withNextStretch { bytes, _ in Array(bytes) })
        }
        add(1, [1])
        add(1, [2, 3])
        #expect(try content() == [.data(lease: 1, [1, 2, 3])])
        add(2, [4])
        add(1, [5])
        _ = outgoing.append(.unshared(lease: 1))
        add(1, [6])
        #expect(
            try content() == [
                .data(lease: 1, [1, 2, 3]), .data(lease: 2, [4]), .data(lease: 1, [5]), .unshared(lease: 1),
                .data(lease: 1, [6]),
            ])
        // All but the last byte.
        let sent = outgoing.count - 1
        _ = outgoing.sent(sent)
        add(1, [7])
        #expect(outgoing.count == 1 + frame(WorkerMessage.data(lease: 1, [7])).count)
        _ = outgoing.sent(1)
        #expect(try content() == [.data(lease: 1, [7])])
        let longest = [UInt8](repeating: 8, count: WireProtocol.maximumInlineBody - 1)
        add(1, longest)
        add(1, [9])
        #expect(try content() == [.data(lease: 1, [7] + longest), .data(lease: 1, [9])])
    }

    @Test("a message that is too long is not queued, and its descriptors stay with the caller")
    func tooLong() {
        var outgoing = OutgoingFrames()
        let url = String(repeating: "u", count: WireProtocol.maximumPayload)
        var lease = Lease(id: 1, profile: 1, progressIndex: 0, method: .get, url: url, fields: FieldLines())
        lease.sink = .descriptor
        let wasAdded = outgoing.append(.lease(lease), descriptors: [5])
        #expect(!wasAdded)
        #expect(outgoing.isEmpty)
        let left = outgoing.removeAll()
        #expect(left == [])
    }

    @Test("a lease without a message around it is the same frame", arguments: 0..<50 as Range<UInt64>)
    func bareLease(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let lease = Lease.random(using: &random)
        let descriptors = (0..<lease.descriptorCount).map { 3 + Int32($0) }
        var bare = OutgoingFrames()
        let wasAdded = bare.appendLease(lease, descriptors: descriptors)
        #expect(wasAdded)
        var wrapped = OutgoingFrames()
        _ = wrapped.append(.lease(lease), descriptors: descriptors)
        let sent = sendAll(&bare)
        #expect(sent == sendAll(&wrapped))
    }

    @Test("what was never sent is given back")
    func removeAll() {
        var outgoing = OutgoingFrames()
        _ = outgoing.append(lease(1, body: .none), descriptors: [3])
        _ = outgoing.append(lease(2, body: .descriptor(length: 1)), descriptors: [4, 5])
        let released = outgoing.sent(1)
        #expect(released == [3])
        let left = outgoing.removeAll()
        #expect(left == [4, 5])
        #expect(outgoing.isEmpty)
    }

    @Test("a frame takes as many descriptors as it says, in the order they came")
    func order() throws {
        let two = lease(2, body: .descriptor(length: 5))
        let one = lease(1, body: .none)
        var incoming = IncomingFrames()
        incoming.receive(
            frame(CoordinatorMessage.drain) + frame(two) + frame(CoordinatorMessage.drain) + frame(one), [4, 5, 6])
        var seen: [[Int32]] = []
        while let (_, descriptors) = try incoming.next(CoordinatorMessage.read) { seen.append(descriptors) }
        #expect(seen == [[], [4, 5], [], [6]])
        let left = incoming.removeDescriptors()
        #expect(left == [])
    }

    @Test("descriptors that come with the first byte wait for the last")
    func early() throws {
        let message = lease(1, body: .none)
        let bytes = frame(message)
        for split in 1..<bytes.count {
            var incoming = IncomingFrames()
            incoming.receive(bytes[..<split], [4])
            let tooEarly = try incoming.next(CoordinatorMessage.read)
            #expect(tooEarly == nil)
            incoming.receive(bytes[split...])
            let next = try incoming.next(CoordinatorMessage.read)
            #expect(next?.message == message)
            #expect(next?.descriptors == [4])
        }
    }

    @Test("a frame whose descriptors did not come is refused")
    func missing() {
        var incoming = IncomingFrames()
        incoming.receive(frame(lease(1, body: .descriptor(length: 1))), [4])
        #expect(throws: FrameError.descriptorCount) { try incoming.next(CoordinatorMessage.read) }
        let left = incoming.removeDescriptors()
        #expect(left == [4])
    }

    @Test("descriptors that belong to no frame are refused, so that a peer cannot pile them up")
    func unclaimed() {
        // With frames that want none.
        var incoming = IncomingFrames()
        incoming.receive(frame(CoordinatorMessage.drain), [4])
        #expect(throws: FrameError.descriptorCount) {
            while try incoming.next(CoordinatorMessage.read) != nil {}
        }
        let left = incoming.removeDescriptors()
        #expect(left == [4])
        // With a frame that is not complete: more than its header says.
        incoming = IncomingFrames()
        incoming.receive(frame(lease(1, body: .none)).prefix(9), [4, 5])
        #expect(throws: FrameError.descriptorCount) { try incoming.next(CoordinatorMessage.read) }
        // With less than a header: more than any may have.
        incoming = IncomingFrames()
        incoming.receive([1, 0, 0], [4, 5, 6, 7, 8])
        #expect(throws: FrameError.descriptorCount) { try incoming.next(CoordinatorMessage.read) }
    }

    @Test("descriptors of a frame that is refused stay in the queue")
    func refused() {
        var incoming = IncomingFrames()
        incoming.receive(frame(kind: 99, descriptors: 2, []), [4, 5])
        #expect(throws: FrameError.unknownKind(99)) { try incoming.next(WorkerMessage.read) }
        let left = incoming.removeDescriptors()
        #expect(left == [4, 5])
    }

    @Test("leases and their ends are taken without a message around them")
    func bareFrames() throws {
        let message = lease(2, body: .descriptor(length: 5))
        let end = LeaseEnd(lease: 2, outcome: .complete(.memory(length: 3)))
        var incoming = IncomingFrames()
        incoming.receive(frame(message) + frame(WorkerMessage.ended(end)), [4, 5, 6])
        let first = try incoming.nextFrame()
        let leaseFrame = try #require(first)
        #expect(leaseFrame.isLease && !leaseFrame.isEnd)
        let taken = try incoming.lease(of: leaseFrame, knownFields: FieldLines())
        let ofLease = incoming.takeDescriptors(of: leaseFrame)
        #expect(CoordinatorMessage.lease(taken) == message)
        #expect(ofLease == [4, 5])
        let second = try incoming.nextFrame()
        let endFrame = try #require(second)
        #expect(endFrame.isEnd && !endFrame.isLease)
        let readEnd = try incoming.end(of: endFrame)
        let ofEnd = incoming.takeDescriptors(of: endFrame)
        #expect(readEnd == end)
        #expect(ofEnd == [6])
        let isOver = try incoming.nextFrame() == nil
        #expect(isOver)
    }

    @Test(
        "whatever is queued and however it is cut, bytes and descriptors meet again on the other side",
        arguments: 0..<200 as Range<UInt64>)
    func endToEnd(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var outgoing = OutgoingFrames()
        var incoming = IncomingFrames(capacity: 0)
        var given: [(WorkerMessage, [Int32])] = []
        var taken: [(WorkerMessage, [Int32])] = []
        var released: [Int32] = []
        var number: Int32 = 3
        for _ in 0..<60 {
            for _ in 0..<random.next() % 4 {
                let message = WorkerMessage.random(kind: random.bool() ? 4 : 3, using: &random)
                let descriptors = (0..<message.descriptorCount).map { number + Int32($0) }
                number += Int32(descriptors.count)
                let wasAdded = outgoing.append(message, descriptors: descriptors)
                #expect(wasAdded)
                given.append((message, descriptors))
            }
            try transfer(limit: Int(random.next() % 2_000))
        }
        while !outgoing.isEmpty { try transfer(limit: 5_000) }
        #expect(given.map(\.0) == taken.map(\.0))
        #expect(given.map(\.1) == taken.map(\.1))
        #expect(released == given.flatMap(\.1))

        func transfer(limit: Int) throws {
            let (bytes, descriptors) = outgoing.withNextStretch { (Array($0.prefix(limit)), $1) }
            if bytes.isEmpty { return }
            released += outgoing.sent(bytes.count)
            incoming.receive(bytes, descriptors)
            while let next = try incoming.next(WorkerMessage.read) { taken.append((next.message, next.descriptors)) }
        }
    }

    private struct Sent: Equatable {
        var bytes: [UInt8]
        var descriptors: [Int32]

        init(_ bytes: [UInt8], _ descriptors: [Int32]) {
            self.bytes = bytes
            self.descriptors = descriptors
        }
    }

    private func sendAll(_ outgoing: inout OutgoingFrames) -> [Sent] {
        var all: [Sent] = []
        while !outgoing.isEmpty {
            let sent = outgoing.withNextStretch { Sent(Array($0), $1) }
            let released = outgoing.sent(sent.bytes.count)
            #expect(released == sent.descriptors)
            all.append(sent)
        }
        return all
    }

    /// A lease with a descriptor sink.
    private func lease(_ id: UInt64, body: RequestBody) -> CoordinatorMessage {
        var lease = Lease(id: id, profile: 1, progressIndex: 0, method: .get, url: "u", fields: FieldLines())
        lease.sink = .descriptor
        lease.body = body
        return .lease(lease)
    }
}
