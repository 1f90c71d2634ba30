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

    /// An origin that has something else from the second request on, or the same, and a number on each answer.
    private static func numbered(_ request: ScriptedOrigin.Seen, isSame: Bool) -> ScriptedOrigin.Answer {
        let tag = isSame || request.number == 1 ? "\"one\"" : "\"two\""
        return ScriptedOrigin.Answer(
            200, "one", [("ETag", tag), ("Cache-Control", "max-age=60"), ("X-Number", "\(request.number)")])
    }

    @Test(
        "where nothing stored answers, the server's word to HEAD counts for it, unless nothing is to be written",
        arguments: [
            (.doNotRead, true, "cache 2"), (.doNotRead, false, "network 3"),
            ([.doNotRead, .doNotWrite], false, "cache 1"),
        ] as [(CachePolicy, Bool, String)], [true, false])
    func reloaded(terms: (policy: CachePolicy, isSame: Bool, next: String), isProgramsOwn: Bool) async throws {
        let cache = isProgramsOwn ? MemoryCache() : nil
        try await withScene(isProgramsOwn ? .inProcess : .workers, adjust: { $0.downloadCache = cache }) {
            Self.numbered($0, isSame: terms.isSame)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            var asked = Request(.head, url)
            asked.cachePolicy = terms.policy
            let head = try await coordinator.send(asked)
            #expect(summary(head) == "network 200 ")
            let next = try await coordinator.get(url)
            #expect("\(next.source.rawValue) \(next.fields["X-Number"] ?? "")" == terms.next)
        }
    }
}
