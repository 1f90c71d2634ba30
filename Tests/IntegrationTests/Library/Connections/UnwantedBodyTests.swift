import Testing
import Trawl

@Suite("A body that nobody wants is not waited for", .timeLimit(.minutes(2)))
struct UnwantedBodyTests {
    /// What a wait would take at least.
    private static let inactivity = Duration.seconds(60)

    /// How long a fetch takes.
    private func time(_ fetch: () async throws -> Void) async rethrows -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        try await fetch()
        return clock.now - start
    }

    @Test(
        "of a redirect, a challenge, a failure", arguments: Engine.allCases,
        [
            "302 Found\r\nLocation: /there\r\n\r\nhello",
            "302 Found\r\nLocation: /there\r\nConnection: close\r\nContent-Length: 100\r\n\r\n",
            "302 Found\r\nLocation: /there\r\nContent-Length: 100\r\n\r\nhello",
            "302 Found\r\nLocation: /there\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
            "401 Who\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\r\nwho",
            "401 Who\r\nWWW-Authenticate: Basic realm=\"x\"\r\nConnection: close\r\nContent-Length: 9\r\n\r\nwho",
            "401 Who\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 9\r\n\r\nwho",
            "503 Busy\r\n\r\nbusy", "503 Busy\r\nContent-Length: 100\r\n\r\nbusy",
        ])
    func silence(engine: Engine, first: String) async throws {
        let peer = try ScriptedPeer { connection, number in
            guard connection.readHead() != nil else { return }
            if number == 1 {
                connection.send("HTTP/1.1 \(first)")
                connection.drain()
            } else {
                connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 5\r\n\r\nthere")
            }
        }
        defer { peer.stop() }
        var request = Request("http://\(peer.place)/")
        request.options.timeLimits.inactivity = Self.inactivity
        request.options.authentication.credential = Credential(user: "ann", password: "secret")
        request.options.authentication.usesSession = false
        request.options.authentication.allowsClearText = true
        request.options.retry = .init(1)
        request.options.retry.delay = .milliseconds(20)
        let asked = request
        try await withTestCoordinator(workers: engine.workers) { coordinator in
            let duration = try await time {
                let response = try await coordinator.send(asked)
                #expect(response.bodyText == "there")
            }
            #expect(duration < Self.inactivity / 2)
        }
    }

    @Test("of a failure that a stored response stands in for", arguments: Engine.allCases)
    func staleIfError(engine: Engine) async throws {
        let end = Occasion()
        defer { end.open() }
        try await withScene(engine, workers: 1) { request in
            guard request.number > 1 else { return page("one", "max-age=0, stale-if-error=60", to: request) }
            var answer = ScriptedOrigin.Answer(503)
            answer.announced = 100
            answer.rest = ([], end)
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            #expect(summary(try await coordinator.get(url)) == "network 200 one")
            let duration = try await time {
                let response = try await coordinator.get(url) { $0.timeLimits.inactivity = Self.inactivity }
                #expect(summary(response) == "stale 200 one")
            }
            #expect(duration < Self.inactivity / 2)
        }
    }
}
