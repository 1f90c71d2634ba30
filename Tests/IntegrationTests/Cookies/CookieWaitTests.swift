import Foundation
import Testing
import Trawl

@Suite("The cookies of a request that waits for its turn, RFC 6265bis §5.8.3, ASI-COOK-01", .timeLimit(.minutes(3)))
struct CookieWaitTests {
    /// Has a request for `/next`, which is answered with its cookies, wait for one for `/held` until a time has passed.
    ///
    /// - Parameters:
    ///   - cookie: What both find when they begin.
    ///   - held: Fields of the answer for `/held`.
    ///   - next: Fields of the answer for `/next`.
    private func wait(
        _ engine: Engine, isProgramCache: Bool, cookie: Cookie, until end: Date = Date(), held: [(String, String)] = [],
        next: [(String, String)] = [], _ body: (CacheScene, Coordinator, Response) async throws -> Void
    ) async throws {
        let occasion = Occasion()
        try await withScene(
            engine,
            adjust: {
                $0.connectionsPerHost = 1
                if isProgramCache { $0.downloadCache = MemoryCache() }
            }
        ) { request in
            if request.target == "/held" {
                occasion.wait()
                return ScriptedOrigin.Answer(200, "", held)
            }
            return ScriptedOrigin.Answer(200, request.fields["cookie"] ?? "none", next)
        } _: { scene, coordinator in
            defer { occasion.open() }
            try await coordinator.cookies.set(cookie)
            let first = Task { try await coordinator.get(scene.origin.url("/held")) }
            let isHeld = await eventually { scene.count == 1 }
            #expect(isHeld)
            let second = Task { try await coordinator.get(scene.origin.url("/next")) }
            let waits = await eventually { await coordinator.status()?.waiting == 1 }
            #expect(waits)
            while Date() <= end { try await Task.sleep(for: .milliseconds(20)) }
            occasion.open()
            _ = try await first.value
            let response = try await second.value
            try await body(scene, coordinator, response)
        }
    }

    @Test(
        "one whose time is over by then stays behind, with the store's cache or the program's",
        arguments: Engine.allCases, [false, true])
    func ends(engine: Engine, isProgramCache: Bool) async throws {
        let end = Date(timeIntervalSinceNow: 5)
        var cookie = Cookie("n", "1", domain: "127.0.0.1")
        cookie.expires = Int64(end.timeIntervalSince1970 * 1000)
        try await wait(engine, isProgramCache: isProgramCache, cookie: cookie, until: end) { _, _, response in
            #expect(response.bodyText == "none")
        }
    }

    @Test(
        "what came meanwhile goes along, and the answer is stored for it, with the store's cache or the program's",
        arguments: Engine.allCases, [false, true])
    func changes(engine: Engine, isProgramCache: Bool) async throws {
        try await wait(
            engine, isProgramCache: isProgramCache, cookie: Cookie("n", "1", domain: "127.0.0.1"),
            held: [("Set-Cookie", "n=2")], next: [("Cache-Control", "max-age=60"), ("Vary", "Cookie")]
        ) { scene, coordinator, response in
            #expect(summary(response) == "network 200 n=2")
            #expect(scene.origin.seen("/held").first?.fields["cookie"] == "n=1")
            let again = try await coordinator.get(scene.origin.url("/next"))
            #expect(summary(again) == "cache 200 n=2")
        }
    }
}
