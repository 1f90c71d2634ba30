import Foundation
import Testing
import Trawl

/// ULS-CACHE-06, ULS-CACHE-07, ASI-CACHE-14, ASI-CACHE-23.
@Suite("The cache in a program's hands", .timeLimit(.minutes(3)))
struct CacheAccessTests {
    @Test("what is stored can be looked at, with its body and where that is", arguments: Engine.allCases)
    func looks(engine: Engine) async throws {
        try await withScene(engine) { request in
            let length = request.target == "/long" ? 50_000 : 5
            return ScriptedOrigin.Answer(200, String(repeating: "x", count: length), [("Cache-Control", "max-age=60")])
        } _: { scene, coordinator in
            let cache = try #require(coordinator.cache)
            #expect(try cache.response(to: Request(scene.origin.url("/short"))) == nil)
            for (target, length) in [("/short", 5), ("/long", 50_000)] {
                let request = Request(scene.origin.url(target))
                _ = try await coordinator.send(request)
                let stored = try #require(try cache.response(to: request))
                #expect(stored.head.status == 200)
                #expect(stored.isFresh && stored.isComplete && stored.lifetime == .seconds(60))
                #expect(stored.bodyLength == UInt64(length))
                #expect(try stored.decodedBody() == [UInt8](repeating: UInt8(ascii: "x"), count: length))
                #expect((stored.bodyFile != nil) == (length > 16 << 10))
                let file = stored.bodyFile.flatMap { FileManager.default.contents(atPath: $0) }
                #expect(file.map { $0.count == length } ?? true)
            }
            #expect(try cache.usage().responses == 2)
            #expect(scene.count == 2)
        }
    }

    @Test("what is put in by hand answers, and what is taken out does not", arguments: Engine.allCases)
    func changes(engine: Engine) async throws {
        try await withScene(engine) {
            page("served", to: $0)
        } _: { scene, coordinator in
            let cache = try #require(coordinator.cache)
            let request = Request(scene.origin.url("/page"))
            try await cache.insert(
                fields: ["Cache-Control": "max-age=60"], body: Array("by hand".utf8), for: request, metadata: [1, 2])
            #expect(summary(try await coordinator.send(request)) == "cache 200 by hand")
            #expect(try cache.response(to: request)?.metadata == [1, 2])
            try await cache.remove(request)
            #expect(summary(try await coordinator.send(request)) == "network 200 served")
            _ = try await coordinator.get(scene.origin.url("/kept")) { $0.caching.storage = .session }
            #expect(try await cache.removeAll(storage: .permanent) == 1)
            #expect(try await coordinator.get(scene.origin.url("/kept")).source == .cache)
            #expect(try await cache.removeAll() == 1)
            #expect(try cache.usage().responses == 0)
            #expect(try await coordinator.get(scene.origin.url("/kept")).source == .network)
        }
    }

    @Test("a program decides what is stored, and gives it data of its own", arguments: Engine.allCases)
    func decides(engine: Engine) async throws {
        try await withScene(engine, adjust: { $0.decisions = Choosy() }) {
            page($0.target, to: $0)
        } _: {
            scene, coordinator in
            let cache = try #require(coordinator.cache)
            for target in ["/secret", "/marked", "/session"] {
                for place in [Destination.memory, .stream] {
                    let fetch = coordinator.start(Request(scene.origin.url(target)), into: place)
                    if place == .stream { #expect(try await readStream(fetch) == Array(target.utf8)) }
                    let response = try await fetch.response
                    #expect(
                        response.source == (place == .stream && target != "/secret" ? .cache : .network), "\(target)")
                }
            }
            #expect(try cache.response(to: Request(scene.origin.url("/secret"))) == nil)
            #expect(try cache.response(to: Request(scene.origin.url("/marked")))?.metadata == [7])
            #expect(try cache.response(to: Request(scene.origin.url("/session")))?.storage == .session)
        }
    }

    /// Stores nothing secret, and the rest in different ways.
    private struct Choosy: FetchDecisions {
        func storing(
            _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
        ) async -> StoringChoice? {
            if url.hasSuffix("/secret") { return nil }
            return url.hasSuffix("/session") ? StoringChoice(storage: .session) : StoringChoice(metadata: [7])
        }
    }
}
