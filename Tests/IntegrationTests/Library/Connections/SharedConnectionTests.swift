import Testing
import Trawl

/// With HTTP/2 asked for, a request may wait to find out whether it can share another's connection.
@Suite("Waiting for a connection to share", .timeLimit(.minutes(2)))
struct SharedConnectionTests {
    private struct Round {
        var requests = 0
        var isFull = Occasion()
    }

    /// An origin, or a proxy that plays origins, that answers when so many requests have come, and so many again.
    private func origin(
        answeringEach count: Int, _ fields: [(String, String)] = []
    ) throws -> ScriptedOrigin {
        let round = Locked(Round())
        return try ScriptedOrigin { _ in
            let isFull = round.withLock { round in
                round.requests += 1
                let isFull = round.isFull
                if round.requests == count {
                    isFull.open()
                    round = Round()
                }
                return isFull
            }
            isFull.wait()
            return ScriptedOrigin.Answer(200, "", fields)
        }
    }

    private func request(_ url: String, _ adjust: (inout RequestOptions) -> Void = { _ in }) -> Request {
        var request = Request(url)
        request.options.transport.version = .http2
        // Shorter than an answer waits for other requests.
        request.options.timeLimits.resource = .seconds(20)
        adjust(&request.options)
        return request
    }

    /// Sends them all at a time.
    private func send(_ requests: [Request], _ coordinator: Coordinator) async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for request in requests { group.addTask { try await coordinator.send(request).status } }
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test("in clear no request waits for the answer to another", arguments: ["keep-alive", "close"])
    func clear(connection: String) async throws {
        let origin = try origin(answeringEach: 3, [("Connection", connection)])
        defer { origin.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            for round in 0..<2 {
                try await send((0..<3).map { request(origin.url("/\(round)/\($0)")) }, coordinator)
            }
        }
        #expect(origin.seen().count == 6)
    }

    @Test("nor does one for a host that is asked for by way of the same proxy")
    func proxied() async throws {
        let proxy = try origin(answeringEach: 2)
        defer { proxy.stop() }
        let policy = ProxyPolicy(try Proxy("127.0.0.1:\(proxy.port)"))
        try await withTestCoordinator(workers: 1) { coordinator in
            try await send(["one", "two"].map { request("http://\($0).test/") { $0.proxy = policy } }, coordinator)
        }
        #expect(proxy.seen().count == 2)
    }

    @Test("where no connection comes about, the limit of each is over at the same time")
    func silence() async throws {
        // It takes connections and speaks no TLS.
        let peer = try ScriptedPeer { connection, _ in connection.drain() }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            let clock = ContinuousClock()
            let begin = clock.now
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    let request = request("https://\(peer.place)/\(number)") { $0.timeLimits.connect = .seconds(3) }
                    group.addTask {
                        let error = await failure(.timeout) { try await coordinator.send(request) }
                        #expect(error?.detail.contains("no connection within") == true)
                    }
                }
            }
            // One after the other they would take 24 seconds.
            #expect(clock.now - begin < .seconds(18))
        }
    }
}
