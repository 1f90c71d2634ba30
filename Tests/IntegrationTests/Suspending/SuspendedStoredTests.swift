import Testing
import Trawl

@Suite("Suspended fetches whose response comes out of the cache", .timeLimit(.minutes(3)))
struct SuspendedStoredTests {
    @Test(
        "a reader goes on where it was, without the server, however long the fetch was suspended",
        arguments: Engine.allCases)
    func stream(engine: Engine) async throws {
        let content = SuspendScene.content
        // Its connection, which is given up, shows that the time of the other is over too.
        let other = try SuspendScene()
        try await withScene(engine, adjust: { $0.suspendedConnectionLifetime = .milliseconds(50) }) { _ in
            // The rest of it could not be asked for.
            var answer = ScriptedOrigin.Answer(200, "", [("Cache-Control", "max-age=3600")])
            answer.body = content
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/")
            _ = try await coordinator.get(url)
            scene.origin.stop()
            let fetch = coordinator.start(Request(url), into: .stream)
            var events = fetch.events.makeAsyncIterator()
            var streamed: [UInt8] = []
            while streamed.isEmpty, let event = await events.next() {
                if case .data(let bytes) = event { streamed += bytes }
            }
            fetch.suspend()
            let (second, course) = try await other.halfway(coordinator)
            try await other.suspendForLong(second)
            second.cancel()
            _ = await course.value
            fetch.resume()
            while let event = await events.next() {
                if case .data(let bytes) = event { streamed += bytes }
            }
            let response = try await fetch.response
            #expect(response.source == .cache)
            #expect(streamed == content)
            #expect(scene.count == 1)
        }
    }
}
