import Testing
import Trawl

/// RFC 9111 §4.3.4, §4.3.5: what is answered to HEAD says something of what GET has brought.
@Suite("HEAD and what is stored", .timeLimit(.minutes(5)))
struct CacheHeadTests {
    @Test("a 304 to the caller's own condition is handed on, and freshens what is stored", arguments: Engine.allCases)
    func notModified(engine: Engine) async throws {
        try await withScene(engine) { request in
            page("one", request.number == 1 ? "max-age=0" : "max-age=60", to: request)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let first = try await coordinator.get(url)
            #expect(summary(first) == "network 200 one")
            let known = try await coordinator.send(Request(.head, url, fields: ["If-None-Match": "\"one\""]))
            #expect(summary(known) == "network 304 ")
            let next = try await coordinator.get(url)
            #expect(summary(next) == "cache 200 one")
            #expect(scene.origin.seen().map(\.method) == ["GET", "HEAD"])
        }
    }
}
