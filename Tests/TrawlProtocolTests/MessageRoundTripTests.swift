import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlProtocol

@Suite("Messages to bytes and back")
struct MessageRoundTripTests {
    @Test("every message of a coordinator comes back as it was", arguments: 0..<CoordinatorMessage.kinds)
    func coordinator(kind: Int) throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let message = CoordinatorMessage.random(kind: kind, using: &random)
            #expect(try coordinatorMessages(frame(message)) == [message], "seed \(seed)")
        }
    }

    @Test("every message of a worker comes back as it was", arguments: 0..<WorkerMessage.kinds)
    func worker(kind: Int) throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let message = WorkerMessage.random(kind: kind, using: &random)
            #expect(try workerMessages(frame(message)) == [message], "seed \(seed)")
        }
    }

    @Test("every failure has its number, and keeps it")
    func failureNumbers() {
        #expect(HopFailure.Kind.allCases.map(\.rawValue) == Array(1...30))
        #expect(HopFailure.Kind.internalError.rawValue == 24)
        #expect(HopFailure.Kind.storedResponse.rawValue == 25)
    }

    @Test("the layout is the documented one, byte for byte")
    func layout() throws {
        #expect(frame(CoordinatorMessage.drain) == [0, 0, 0, 0, 7, 0, 0, 0])
        #expect(frame(CoordinatorMessage.cancel(lease: 0x0102)) == [8, 0, 0, 0, 5, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0])
        #expect(
            frame(WorkerMessage.ready(Ready(build: "b", segmentLayout: 2, processID: 3)))
                == [19, 0, 0, 0, 16, 0, 0, 0] + Array("TRWL".utf8) + [18, 0] + [1, 0, 0, 0, 0x62] + [2, 0, 0, 0] + [
                    3, 0, 0, 0,
                ])
        var fields = FieldLines()
        try fields.append("A", "bc")
        var lease = Lease(id: 1, profile: 2, progressIndex: 3, method: .get, url: "u", fields: fields)
        lease.sink = .descriptor
        lease.timeout = 4
        lease.cache = [.reads, .sends]
        lease.limits = LimitNumbers(1, 2)
        var route = ProxyRoute(.socks5h, host: "h", port: 1)
        route.tunnels = true
        (route.user, route.password, route.identity) = ("u", "p", 7)
        lease.proxy = route
        lease.trusted = .verified([8, 9])
        lease.counted = CountedOrigin(number: 5, most: 6)
        let payload: [UInt8] =
            little(UInt64(1)) + little(UInt32(2)) + little(UInt16(3)) + [0, 0b11_0000, 0, 0, 0]
            + little(UInt64(4)) + little(UInt16(1)) + [3, 0, 0, 0] + Array("GET".utf8) + [1, 0, 0, 0] + Array("u".utf8)
            + [9, 0, 0, 0] + [1, 0, 2, 0, 0, 0] + Array("Abc".utf8) + [0] + [3] + [0, 0, 0, 0] + [0]
            + [5] + little(UInt32(1 | 2 << 10 | 1023 << 20))
            + [6] + [1, 0, 0, 0, 0x68] + [1, 0] + [1] + [1, 0, 0, 0, 0x75] + [1, 0, 0, 0, 0x70] + [0, 0, 0, 0]
            + little(UInt64(7)) + [0, 0, 2, 2, 0, 0, 0, 8, 9] + [6, 0, 5, 0, 0, 0]
        #expect(frame(CoordinatorMessage.lease(lease)) == frame(kind: 3, descriptors: 1, payload))
        let sink: [UInt8] = [2, 7, 0] + [1, 0, 0, 0, 0x70] + [2] + little(UInt32(5)) + [1]
        let answer = HeadDisposition.redirectBody(
            .file(root: 7, path: "p", collision: .number(from: 5, adoptsIdentical: true)))
        #expect(
            frame(CoordinatorMessage.answer(lease: 1, answer)) == frame(kind: 4, little(UInt64(1)) + [1] + sink))
        let end = frame(WorkerMessage.ended(LeaseEnd(lease: 1, outcome: .complete(.file(length: 6, name: "p.1")))))
        #expect(
            Array(end.dropFirst(WireProtocol.headerLength + 8).prefix(17))
                == [3] + little(UInt64(6)) + [3, 0, 0, 0] + Array("p.1".utf8) + [0])
        #expect(
            frame(WorkerMessage.data(lease: 9, [1, 2])) == frame(kind: 19, little(UInt64(9)) + [2, 0, 0, 0, 1, 2]))
    }

    @Test("a file that its coordinator is to name comes with its descriptor")
    func unnamed() {
        let answer = HeadDisposition.redirectBody(.file(root: 7, path: "p", collision: .onlyNumber(5)))
        let sink: [UInt8] = [2, 7, 0] + [1, 0, 0, 0, 0x70] + [4] + little(UInt32(5))
        #expect(
            frame(CoordinatorMessage.answer(lease: 1, answer)) == frame(kind: 4, little(UInt64(1)) + [1] + sink))
        let end = frame(WorkerMessage.ended(LeaseEnd(lease: 1, outcome: .complete(.unnamed(length: 6, name: "d/p")))))
        #expect(end[5] == 1)
        #expect(
            Array(end.dropFirst(WireProtocol.headerLength + 8).prefix(16))
                == [8] + little(UInt64(6)) + [3, 0, 0, 0] + Array("d/p".utf8))
    }

    @Test("a greeting names each root with its device and inode")
    func greeting() {
        let hello = Hello(
            build: "b", segmentLayout: 2, slot: 3, generation: 4, leases: 5,
            roots: [WorkerRoot(path: "/p", device: 6, inode: 7)], followsConnections: true,
            countsConnections: false)
        let numbers: [UInt8] = little(UInt32(2)) + little(UInt32(3)) + little(UInt32(4)) + little(UInt32(5))
        let roots: [UInt8] = [1, 0, 0, 0] + [2, 0, 0, 0, 0x2F, 0x70] + little(UInt64(6)) + little(UInt64(7))
        let greeting: [UInt8] = Array("TRWL".utf8) + [18, 0] + [1, 0, 0, 0, 0x62] + numbers + roots + [1, 0]
        #expect(frame(CoordinatorMessage.hello(hello)) == frame(kind: 1, greeting))
    }

    @Test("transfers that rest, their ends, and leases that go on behind them")
    func givenUp() {
        #expect(frame(CoordinatorMessage.order(lease: 0x0102, .giveUp)) == frame(kind: 9, little(UInt64(0x0102)) + [2]))
        #expect(TransferOrder.allCases.map(\.rawValue) == [0, 1, 2])
        let end = LeaseEnd(lease: 1, outcome: .givenUp(requestSent: true, kept: 6, isPassed: true))
        let bytes = frame(WorkerMessage.ended(end))
        #expect(bytes[5] == 1)
        #expect(
            Array(bytes.dropFirst(WireProtocol.headerLength + 8).prefix(11)) == [7, 1] + little(UInt64(6)) + [1])
        var lease = Lease(id: 1, profile: 2, progressIndex: 3, method: .get, url: "u", fields: FieldLines())
        let without = frame(CoordinatorMessage.lease(lease))
        lease.part = 9
        let with = frame(CoordinatorMessage.lease(lease))
        #expect(with[5] == without[5] + 1 && with.count == without.count + 8)
        #expect(with[WireProtocol.headerLength + 16] == without[WireProtocol.headerLength + 16] | 16)
        #expect(Array(with.suffix(8)) == little(UInt64(9)))
        // What is elsewhere is in no file that goes along.
        for sink in [BodySink.discard, .descriptor, .stream(credit: 1)] {
            lease.sink = sink
            lease.part = 0
            let count = lease.descriptorCount
            lease.part = 9
            #expect(lease.descriptorCount == count)
        }
    }

    @Test(
        "a lease that drops the bodies of errors says so by the flag 16,384, or 32,768 for those that may pass",
        arguments: [(.dropsErrorBodies, 0x40), (.dropsPassingErrors, 0x80)] as [(LeaseOptions, UInt8)])
    func droppedErrors(option: LeaseOptions, bit: UInt8) throws {
        var lease = Lease(id: 1, profile: 2, progressIndex: 3, method: .get, url: "u", fields: FieldLines())
        var bytes = frame(CoordinatorMessage.lease(lease))
        bytes[WireProtocol.headerLength + 16] |= bit
        lease.options.insert(option)
        #expect(frame(CoordinatorMessage.lease(lease)) == bytes)
        #expect(try coordinatorMessages(bytes) == [.lease(lease)])
    }

    @Test("a response that will not be stored is told in eight bytes")
    func unshared() {
        #expect(frame(WorkerMessage.unshared(lease: 0x0102)) == frame(kind: 21, little(UInt64(0x0102))))
    }

    @Test("what a cache adds to a request is told as fields are")
    func forwards() throws {
        var fields = FieldLines()
        try fields.append("A", "b")
        let payload = little(UInt64(7)) + little(UInt32(8)) + [1, 0, 1, 0, 0, 0] + Array("Ab".utf8)
        #expect(frame(WorkerMessage.forwards(lease: 7, fields)) == frame(kind: 25, payload))
    }

    @Test("connections are told and asked for in six bytes")
    func connections() {
        #expect(
            frame(WorkerMessage.connections(origin: 0x0102, open: 3))
                == frame(kind: 22, little(UInt32(0x0102)) + [3, 0]))
        #expect(
            frame(CoordinatorMessage.release(origin: 0x0102, count: 3))
                == frame(kind: 8, little(UInt32(0x0102)) + [3, 0]))
    }

    @Test("a wish for memory is two lengths and whether that is all")
    func wants() {
        let wish = MemoryWish(holding: 65_536, total: 3_000_000, isWhole: true)
        #expect(
            frame(WorkerMessage.wants(lease: 9, wish))
                == frame(kind: 23, little(UInt64(9)) + little(UInt64(65_536)) + little(UInt64(3_000_000)) + [1]))
    }

    @Test("a connection that closed is told in four bytes")
    func closed() {
        #expect(frame(WorkerMessage.closed(connection: 0x0102)) == frame(kind: 24, little(UInt32(0x0102))))
    }

    @Test("data written from a buffer is the same frame")
    func writeData() {
        var writer = WireWriter()
        [1, 2, 3].withUnsafeBytes { _ = WorkerMessage.writeData(lease: 5, $0, to: &writer) }
        #expect(writer.bytes == frame(WorkerMessage.data(lease: 5, Array([1, 2, 3].withUnsafeBytes { Array($0) }))))
    }

    @Test("the longest head and the longest inline body fit one frame")
    func longest() throws {
        // The shortest line that takes most when packed: three bytes and CR LF on the wire, nine here.
        var fields = FieldLines()
        for _ in 0..<(WireProtocol.maximumHead / 5) { try fields.append("a", "b") }
        let head = ResponseHead(status: 200, version: .http1_1, reason: "OK", fields: fields)
        var end = LeaseEnd(
            lease: 1, outcome: .complete(.inline([UInt8](repeating: 1, count: WireProtocol.maximumInlineBody))),
            head: head)
        end.trailers = fields
        var writer = WireWriter()
        #expect(WorkerMessage.ended(end).write(to: &writer))
        #expect(try workerMessages(writer.bytes) == [.ended(end)])
    }

    @Test("an end that is longer than a frame may be has a form that fits, as a failure")
    func shortened() throws {
        var fields = FieldLines()
        try fields.append("A", String(repeating: "b", count: WireProtocol.maximumPayload))
        let head = ResponseHead(status: 200, version: .http1_1, reason: "OK", fields: fields)
        let failure = HopFailure(.connectionLost, requestSent: true)
        for outcome in [HopOutcome.complete(.memory(length: 1)), .failed(failure)] {
            let end = LeaseEnd(lease: 1, outcome: outcome, head: head)
            var writer = WireWriter()
            #expect(!WorkerMessage.ended(end).write(to: &writer))
            #expect(WorkerMessage.ended(end.shortened).write(to: &writer))
            guard case .failed(let why) = end.shortened.outcome else {
                Issue.record("no failure")
                return
            }
            #expect(why.kind == (outcome == .failed(failure) ? .connectionLost : .headTooLarge))
        }
    }

    @Test("a message longer than a frame may be is not written at all")
    func tooLong() throws {
        var writer = WireWriter()
        #expect(CoordinatorMessage.drain.write(to: &writer))
        let before = writer.bytes
        let url = String(repeating: "u", count: WireProtocol.maximumPayload)
        let lease = Lease(id: 1, profile: 1, progressIndex: 0, method: .get, url: url, fields: FieldLines())
        #expect(!CoordinatorMessage.lease(lease).write(to: &writer))
        #expect(writer.bytes == before)
        #expect(CoordinatorMessage.drain.write(to: &writer))
        #expect(try coordinatorMessages(writer.bytes) == [.drain, .drain])
    }
}
