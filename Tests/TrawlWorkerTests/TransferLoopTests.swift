import Glibc
import TestSupport
import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

@testable import TrawlTransfer

@Suite("Transfers and their loop")
struct TransferLoopTests {
    @Test("one that is cancelled while it waits for bandwidth stands in no line any more")
    func cancelledInLine() throws {
        try #require(GlobalLibcurl.isReady)
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 4)
        let now = MonotonicClock.now()
        segment.limit(0).set(down: 1, up: nil, burst: .zero, at: now)
        // Not paid for in the time of this test.
        segment.limit(0).down.charge(1 << 20, at: now)
        let loop = try #require(
            TransferLoop(leases: 4, roots: [], segment: segment, slot: 0, output: TransferOutput()))
        loop.define(TransferProfile(), number: 1)
        for id in 1...2 as ClosedRange<UInt64> {
            var lease = Lease(
                id: id, profile: 1, progressIndex: 0, method: .get, url: "http://127.0.0.1:1/", fields: FieldLines())
            lease.limits = LimitNumbers(0)
            try loop.begin(lease, descriptors: [])
            #expect(loop.throttled.count == 1)
            loop.cancel(id)
            #expect(loop.throttled.isEmpty && loop.activeCount == 0)
        }
    }

    @Test("so much is read at a time that all transfers together read 8 MiB, or what is asked for, in bounds")
    func receiveBuffers() throws {
        try #require(GlobalLibcurl.isReady)
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 1024)
        func size(_ leases: Int, set: UInt32 = 0, _ version: TransferProfile.Version = .http1_1) throws -> Int {
            let loop = try #require(
                TransferLoop(leases: leases, roots: [], segment: segment, slot: 0, output: TransferOutput()))
            var profile = TransferProfile()
            profile.receiveBuffer = set
            profile.version = version
            return loop.receiveBuffer(for: ResolvedProfile(profile))
        }
        let usual = try [1, 16, 32, 64, 512, 1024].map { try size($0) }
        #expect(usual == [512 << 10, 512 << 10, 256 << 10, 128 << 10, 16 << 10, 16 << 10])
        let set = try [1, 4096, 1 << 30].map { try size(64, set: $0) }
        #expect(set == [1 << 10, 4096, 512 << 10])
        for version in [TransferProfile.Version.http2, .http2PriorKnowledge] {
            let fixed = try [size(1, version), size(1024, version), size(64, set: 4096, version)]
            #expect(fixed == Array(repeating: 256 << 10, count: 3))
        }
    }

    /// A loop of one worker whose limits have a second's bytes for starts, and a port that says nothing.
    private struct Line {
        let segment: SharedSegment
        let loop: TransferLoop
        private let silence: SilentListener
        private var leases: UInt64 = 0

        init(_ limits: [Int: UInt64]) throws {
            try #require(GlobalLibcurl.isReady)
            silence = try SilentListener()
            let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 16)
            for (number, rate) in limits {
                segment.limit(number).set(down: rate, up: nil, burst: .seconds(1), at: MonotonicClock.now())
            }
            let loop = try #require(
                TransferLoop(leases: 16, roots: [], segment: segment, slot: 0, output: TransferOutput()))
            loop.define(TransferProfile(), number: 1)
            self.segment = segment
            self.loop = loop
        }

        mutating func begin(_ count: Int, under limits: LimitNumbers) throws {
            for _ in 0..<count {
                leases += 1
                var lease = Lease(
                    id: leases, profile: 1, progressIndex: UInt16(leases), method: .get, url: silence.url,
                    fields: FieldLines())
                lease.limits = limits
                try loop.begin(lease, descriptors: [])
            }
        }

        /// Another turn, in which those that wait are looked at.
        func turn() {
            loop.throttleDue = 0
            loop.turn()
        }

        /// As if nothing had come for so many of those under way for two seconds.
        func idle(_ count: Int) {
            for transfer in loop.activeTransfers.filter(\.takesPlace).prefix(count) {
                transfer.lastFull = loop.now &- 2_000_000_000
            }
        }
    }

    /// A loop whose transfers reach the origin, and who takes what it has to say.
    private final class Running {
        let segment: SharedSegment
        let output: TransferOutput
        let loop: TransferLoop
        private var incoming = IncomingFrames()
        /// Nobody sends on it.
        private var control: [Int32] = [-1, -1]
        private(set) var leases: UInt64 = 0

        init() throws {
            try #require(GlobalLibcurl.isReady)
            let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 16)
            let output = TransferOutput()
            let loop = try #require(
                TransferLoop(leases: 16, roots: [], segment: segment, slot: 0, output: output))
            loop.define(TransferProfile(), number: 1)
            self.segment = segment
            self.output = output
            self.loop = loop
            control = try #require(OwnDescriptors.socketPair())
        }

        deinit {
            for descriptor in control where descriptor >= 0 { close(descriptor) }
        }

        func begin(_ target: String, _ method: HTTPMethod = .get, _ adjust: (inout Lease) -> Void) throws {
            leases += 1
            let url = try OriginProcess.shared.get().base + target
            var lease = Lease(
                id: leases, profile: 1, progressIndex: UInt16(leases % 16), method: method, url: url,
                fields: FieldLines())
            adjust(&lease)
            try loop.begin(lease, descriptors: [])
        }

        func turn() {
            _ = loop.wait(control: control[0], wantsToWrite: false, milliseconds: output.frames.isEmpty ? 50 : 0)
            loop.turn()
        }

        /// Takes so many bytes of it at most.
        func take(_ most: Int) throws -> [WorkerMessage] {
            let count = output.frames.withNextStretch { bytes, _ in
                let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(most))
                return incoming.fill(minimum: max(part.count, 1)) { room in
                    room.copyMemory(from: part)
                    return part.count
                }
            }
            for descriptor in output.frames.sent(count) { close(descriptor) }
            loop.relieve()
            var messages: [WorkerMessage] = []
            while let found = try incoming.next(WorkerMessage.read) { messages.append(found.message) }
            return messages
        }
    }

    @Test("of a stream that unfolds to much, little waits beyond its credit")
    func unfoldingStream() throws {
        let running = try Running()
        try running.begin("/gzip-bomb?size=6000000") { $0.sink = .stream(credit: 1) }
        let transfer = try #require(running.loop.activeTransfers.first)
        while transfer.pending.isEmpty, running.loop.activeCount > 0 { running.turn() }
        #expect(transfer.pending.count > 0)
        var (received, most) = (0, 0)
        while running.loop.activeCount > 0 || !running.output.frames.isEmpty {
            most = max(most, transfer.pending.count)
            for message in try running.take(1 << 20) {
                guard case .data(let lease, let bytes) = message else { continue }
                received += bytes.count
                running.loop.credit(lease, bytes: 64 << 10)
            }
            if running.loop.activeCount > 0 { running.turn() }
        }
        #expect(received == 6_000_000 && most <= 128 << 10)
    }

    @Test("behind a full control socket transfers go on in turns")
    func relief() throws {
        let running = try Running()
        for _ in 0..<16 { try running.begin("/endless") { $0.sink = .stream(credit: 256 << 10) } }
        var received: [UInt64: Int] = [:]
        // The origin may be late with some: what comes before all have begun counts apart.
        var (before, total) = (0, 0)
        while before < 1 << 30, total < 64 << 20, running.loop.activeCount == 16 {
            running.turn()
            for message in try running.take(256 << 10) {
                guard case .data(let lease, let bytes) = message else { continue }
                running.loop.credit(lease, bytes: UInt32(bytes.count))
                if received.count < 16 {
                    received[lease] = 0
                    before += bytes.count
                } else {
                    received[lease, default: 0] += bytes.count
                    total += bytes.count
                }
            }
        }
        let least = received.values.min() ?? 0
        #expect(running.loop.activeCount == 16 && total >= 64 << 20 && least > total / 16 / 8)
    }

    @Test("one that is cancelled before libcurl begins it has cost nothing")
    func cancelledUnbegun() throws {
        let running = try Running()
        var messages: [WorkerMessage] = []
        try running.begin("/bytes/10", .post) { $0.body = .inline([UInt8](repeating: 1, count: 10_000)) }
        while running.loop.activeCount > 0 { running.turn() }
        let sent = running.segment.worker(0).bytesOut
        #expect(sent >= 10_000)
        try running.begin("/bytes/10") { _ in }
        running.loop.cancel(running.leases)
        #expect(running.loop.activeCount == 0 && running.segment.worker(0).bytesOut == sent)
        while !running.output.frames.isEmpty { messages += try running.take(1 << 20) }
        guard case .ended(let end)? = messages.last else {
            Issue.record("no end")
            return
        }
        #expect(end.lease == running.leases && end.metrics == HopMetrics())
    }

    @Test("a limit has a place for each 4 KiB/s, and what nothing comes of gives its place to others")
    func places() throws {
        var line = try Line([0: 14_800])
        try line.begin(5, under: LimitNumbers(0))
        #expect(line.loop.transfersInMulti == 3 && line.loop.throttled.count == 2)
        line.turn()
        #expect(line.loop.transfersInMulti == 3)
        line.idle(1)
        line.turn()
        #expect(line.loop.transfersInMulti == 4 && line.loop.throttled.count == 1)
        line.loop.activeTransfers.first(where: \.takesPlace)?.isSuspended = true
        line.turn()
        #expect(line.loop.transfersInMulti == 5 && line.loop.throttled.isEmpty)
    }

    @Test("the places of a limit are its own, whatever runs under others or none")
    func placesOfEach() throws {
        // None for all, two hosts, and a group.
        var line = try Line([1: 8192, 2: 8192, 1000: 4096])
        try line.begin(4, under: LimitNumbers(0))
        try line.begin(1, under: .unlimited)
        #expect(line.loop.transfersInMulti == 5)
        try line.begin(2, under: LimitNumbers(0, 1))
        #expect(line.loop.transfersInMulti == 7)
        try line.begin(1, under: LimitNumbers(0, 2))
        #expect(line.loop.transfersInMulti == 8)
        try line.begin(2, under: LimitNumbers(0, 2, 1000))
        // The second waits for the group's only place, and nobody behind it for that.
        #expect(line.loop.transfersInMulti == 9 && line.loop.throttled.count == 1)
        try line.begin(1, under: .unlimited)
        #expect(line.loop.transfersInMulti == 10)
        try line.begin(1, under: LimitNumbers(0, 1))
        line.turn()
        #expect(line.loop.transfersInMulti == 10 && line.loop.throttled.count == 2)
    }
}
