import Foundation
import Glibc
import Testing
import Trawl

@Suite("Time limits end what takes too long and nothing else, ASI-RTY-01, 02", .bed())
struct TimeLimitTests {
    @Test(
        "a drip keeps a fetch alive under the limit of inactivity", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func drip(engine: Engine) async throws {
        // All of it takes longer than the limit.
        let response = try await Bed.current.get("/drip?bytes=8&interval=500", on: engine) {
            $0.timeLimits.inactivity = .seconds(3)
        }
        #expect(response.body.bytes == ReferenceBytes.bytes(8))
    }

    @Test("the limit of the whole fetch does not care about bytes", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func resource(engine: Engine) async throws {
        let bed = try Bed.current
        let clock = ContinuousClock()
        let begin = clock.now
        let error = await failure(.timeout) {
            try await bed.get("/drip?bytes=1000&interval=20", on: engine) {
                $0.timeLimits.resource = .milliseconds(500)
            }
        }
        #expect(clock.now - begin >= .milliseconds(490))
        #expect(error?.legacyCode == 2)
        #expect(error?.urlErrorCode == -1001)
    }

    @Test("the limit of the whole fetch spans redirects", .timeLimit(.minutes(2)))
    func resourceOverRedirects() async throws {
        let bed = try Bed.current
        let target = "/redirect-to?url=" + "/redirect-to?url=/delay/30000".percentEncoded
        await failure(.timeout) { try await bed.get(target) { $0.timeLimits.resource = .milliseconds(400) } }
    }

    @Test("the limit of inactivity says so, and is not met early", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func inactivity(engine: Engine) async throws {
        let bed = try Bed.current
        let clock = ContinuousClock()
        let begin = clock.now
        let error = await failure(.timeout) {
            try await bed.get("/stall?after=100", on: engine) { $0.timeLimits.inactivity = .milliseconds(500) }
        }
        #expect(clock.now - begin >= .milliseconds(490))
        #expect(error?.isRetryable == true)
        #expect(try await bed.get("/delay/300", on: engine) { $0.timeLimits.inactivity = .seconds(20) }.status == 200)
    }

    @Test(
        "the first byte of a response has a limit, and the rest of it none", .timeLimit(.minutes(2)),
        arguments: Engine.allCases)
    func firstByte(engine: Engine) async throws {
        let bed = try Bed.current
        let clock = ContinuousClock()
        let begin = clock.now
        let error = await failure(.timeout) {
            try await bed.get("/delay/30000", on: engine) { $0.timeLimits.firstByte = .milliseconds(500) }
        }
        #expect(clock.now - begin >= .milliseconds(490))
        #expect(error?.isRetryable == true && error?.detail.contains("no byte of a response for 0.5 s") == true)
        let slow = try await bed.get("/drip?bytes=8&interval=500", on: engine) {
            $0.timeLimits.firstByte = .seconds(3)
        }
        #expect(slow.body.bytes == ReferenceBytes.bytes(8))
    }

    @Test("the limit of the first byte stands still while a body waits for bandwidth", .timeLimit(.minutes(2)))
    func firstByteThrottled() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 1) {
            $0.bandwidth = BandwidthLimit(20_000)
        } _: { coordinator in
            var request = Request(.put, bed.url("/anything"), body: .bytes(ReferenceBytes.bytes(90_000)))
            request.options.timeLimits.firstByte = .seconds(2)
            let clock = ContinuousClock()
            let begin = clock.now
            let response = try await coordinator.send(request)
            #expect(response.status == 200)
            #expect(clock.now - begin > .seconds(2.5))
        }
    }

    @Test("the limit of the first byte begins when all of the body has gone", .timeLimit(.minutes(2)))
    func firstByteBehindBody() async throws {
        let bytes = ReferenceBytes.bytes(2 << 20)
        /// Of each body that has come whole, whether its request is answered.
        let taken = Locked<[Bool]>([])
        let peer = try ScriptedPeer { connection, _ in
            // It never says 100, for which the body waits a second.
            guard let head = connection.readHead(), connection.read(bytes.count) != nil else { return }
            let isAnswered = head.hasPrefix("PUT /answer ")
            taken.withLock { $0.append(isAnswered) }
            guard isAnswered else { return connection.drain() }
            connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nhi")
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            var request = Request(.put, "http://\(peer.place)/answer", body: .bytes(bytes))
            // Less than the body waits: counted from the beginning it would be over each time. On a busy machine the
            // answer may be late once.
            request.options.timeLimits.firstByte = .milliseconds(800)
            var response: Response?
            for _ in 0..<5 where response == nil { response = try? await coordinator.send(request) }
            #expect(response?.bodyText == "hi")
            request.url = "http://\(peer.place)/silence"
            let silent = request
            let error = await failure(.timeout) { try await coordinator.send(silent) }
            #expect(error?.detail.contains("no byte of a response for 0.8 s") == true)
            #expect(await eventually { taken.withLock { $0.contains(false) } })
        }
    }

    @Test("zero is no limit", .timeLimit(.minutes(2)))
    func noLimit() async throws {
        let response = try await Bed.current.get("/delay/300") {
            $0.timeLimits.inactivity = .zero
            $0.timeLimits.resource = .zero
            $0.timeLimits.connect = .zero
        }
        #expect(response.status == 200)
    }

    @Test("a fetch that is not begun yet meets its limit too", .timeLimit(.minutes(2)))
    func waiting() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1, adjust: { $0.connectionsPerHost = 1 }) { coordinator in
                let first = coordinator.start(Request(origin.url("/stall")))
                for await event in first.events { if case .attempt = event { break } }
                var second = Request(origin.url("/bytes/1"))
                second.options.timeLimits.resource = .milliseconds(300)
                await failure(.timeout) { try await coordinator.send(second) }
                let log = try origin.log(prefix: "/bytes")
                #expect(log.isEmpty)
                first.cancel()
            }
        }
    }

    @Test("a connection that is never made meets its limit", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func connect(engine: Engine) async throws {
        // A listener nobody accepts from, its queue filled: the next connections are left without an answer.
        let listener = try ListeningSocket(backlog: 0)
        var waiting: [Int32] = []
        defer { waiting.forEach { _ = close($0) } }
        var isFull = false
        while !isFull, waiting.count < 64 {
            let descriptor = socket(
                AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            waiting.append(descriptor)
            _ = SocketAddress.loopback(listener.port).withPointer { Glibc.connect(descriptor, $0, $1) }
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            isFull = poll(&wait, 1, 200) == 0
        }
        try #require(isFull, "the queue of the listener does not fill up")
        let port = listener.port
        let error = await failure(.timeout) {
            var request = Request("http://127.0.0.1:\(port)/")
            request.options.timeLimits.connect = .milliseconds(400)
            return try await Bed.current.coordinator(engine).send(request)
        }
        #expect(error?.detail.contains("connection") == true)
        #expect(error?.isRetryable == true)
    }

    @Test("a slow upload is activity", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func upload(engine: Engine) async throws {
        // With more time where the machine was silent for so long.
        for limit in [Duration.milliseconds(600), .seconds(3), .seconds(15)] {
            // Twice as long as the limit, in pieces of half of what the system's buffers hold: all of it has gone before
            // the last two are read.
            let (piece, count) = (4 << 20, 8)
            let peer = try ScriptedPeer { connection, _ in
                guard connection.readHead() != nil else { return }
                for _ in 0..<count {
                    usleep(UInt32(limit / .microseconds(4)))
                    guard connection.read(piece) != nil else { return }
                }
                connection.send("HTTP/1.1 200 Taken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            }
            defer { peer.stop() }
            var request = Request(
                .post, "http://\(peer.place)/", body: .bytes([UInt8](repeating: 0x61, count: piece * count)))
            request.fields.set("Expect", "")
            request.options.timeLimits.inactivity = limit
            do {
                let response = try await Bed.current.coordinator(engine).send(request)
                #expect(response.status == 200)
                return
            } catch let error as FetchError where error.code == .timeout && limit < .seconds(15) {
                continue
            }
        }
    }

    @Test(
        "before its body begins to go, a request may be silent for half as long again (ASI-RTY-01)",
        .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func beforeBody(engine: Engine) async throws {
        let isOver = Occasion()
        let origin = try ScriptedOrigin { _ in
            isOver.wait()
            return ScriptedOrigin.Answer(200, "late")
        }
        defer {
            isOver.open()
            origin.stop()
        }
        var request = Request(.post, origin.url("/"), body: .text("asked for first"))
        // For a second libcurl waits for a 100 before it sends the body.
        request.fields.set("Expect", "100-continue")
        request.options.timeLimits.inactivity = .milliseconds(400)
        let sent = request
        let clock = ContinuousClock()
        let begin = clock.now
        await failure(.timeout) { try await Bed.current.coordinator(engine).send(sent) }
        #expect(clock.now - begin >= .milliseconds(590))
    }
}
