import Testing
import Trawl

/// ASI-CACHE-21.
@Suite("Stored redirects, ASI-CACHE-21", .timeLimit(.minutes(3)))
struct CacheRedirectTests {
    private static let fresh = ("Cache-Control", "max-age=3600")

    @Test("are followed without the server, with the usual events (ASI-EVT-04)", arguments: Engine.allCases)
    func followed(engine: Engine) async throws {
        try await withScene(engine) { request in
            switch request.target {
            case "/a": ScriptedOrigin.Answer(301, "moved", [("Location", "/b"), Self.fresh])
            case "/b": ScriptedOrigin.Answer(307, "", [("Location", "/c"), Self.fresh])
            default: page("there", to: request)
            }
        } _: { scene, coordinator in
            let url = scene.origin.url("/a")
            _ = try await coordinator.get(url)
            scene.origin.stop()
            let fetch = coordinator.start(Request(url))
            let events = await allEvents(of: fetch).map(word)
            #expect(events == ["started", "redirected 301", "redirected 307", "head 200", "ended"])
            let response = try await fetch.response
            #expect(summary(response) == "cache 200 there")
            #expect(response.url == scene.origin.url("/c"))
            #expect(response.redirects.map(\.location) == [scene.origin.url("/b"), scene.origin.url("/c")])
            #expect(try await coordinator.get(url, into: .file(scene.directory.file("out/there"))).source == .cache)
            #expect(scene.directory.content("out/there") == Array("there".utf8))
            let manual = try await coordinator.get(url) { $0.redirects.mode = .manual }
            #expect(manual.status == 301)
            #expect(manual.source == .cache)
        }
    }

    @Test(
        "that say nothing about their freshness are asked for anew, but for those that last",
        arguments: [301, 302, 303, 307, 308])
    func implicit(status: Int) async throws {
        try await withScene { request in
            request.target == "/a"
                ? ScriptedOrigin.Answer(status, "", [("Location", "/b")]) : page("there", to: request)
        } _: { scene, coordinator in
            for _ in 0..<2 {
                let response = try await coordinator.get(scene.origin.url("/a"))
                #expect(response.bodyText == "there")
            }
            // Without a date of change there is nothing to guess a lifetime from (RFC 9111 §4.2.2).
            #expect(scene.origin.seen("/a").count == 2)
            #expect(scene.origin.seen("/b").count == 1)
        }
    }

    @Test("that lead in circles end")
    func circles() async throws {
        try await withScene { request in
            ScriptedOrigin.Answer(302, "", [("Location", request.target == "/a" ? "/b" : "/a"), Self.fresh])
        } _: { scene, coordinator in
            for _ in 0..<2 { await failure(.tooManyRedirects) { try await coordinator.get(scene.origin.url("/a")) } }
            #expect(scene.count == 2)
        }
    }

    @Test("may be a thousand in a row", arguments: Engine.allCases)
    func many(engine: Engine) async throws {
        try await withScene(engine) { request in
            let number = Int(request.target.dropFirst()) ?? 0
            return number < 1000
                ? ScriptedOrigin.Answer(301, "", [("Location", "/\(number + 1)"), Self.fresh])
                : page("there", to: request)
        } _: { scene, coordinator in
            for source in ["network", "cache"] {
                let response = try await coordinator.get(scene.origin.url("/0")) { $0.redirects.limit = 1000 }
                #expect(summary(response) == "\(source) 200 there")
                #expect(response.redirects.count == 1000)
            }
            // One that leads to itself.
            await failure(.tooManyRedirects) {
                try await coordinator.get(scene.origin.url("/0")) { $0.redirects.limit = 999 }
            }
            #expect(scene.count == 1001)
        }
    }

    @Test("do not carry credentials to another origin")
    func credentials() async throws {
        let other = try ScriptedOrigin { page($0.fields["authorization"] ?? "nobody", "no-store", to: $0) }
        defer { other.stop() }
        let target = other.url("/b")
        try await withScene { _ in
            ScriptedOrigin.Answer(302, "", [("Location", target), Self.fresh])
        } _: {
            scene, coordinator in
            for _ in 0..<2 {
                let response = try await coordinator.get(scene.origin.url("/a"), fields: ["Authorization": "mine"])
                #expect(response.bodyText == "nobody")
            }
            #expect(scene.count == 1)
        }
    }
}
