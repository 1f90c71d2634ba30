import Foundation
import Testing
import Trawl

/// ASI-CACHE-15, ASI-CACHE-25, ASI-CACHE-29.
@Suite("What is stored anew, ASI-CACHE-15, 25, 29", .timeLimit(.minutes(5)))
struct CacheReplacementTests {
    @Test("new content takes the old one's place in the cache and in the file it goes to", arguments: Engine.allCases)
    func destinations(engine: Engine) async throws {
        try await withScene(engine) { request in
            // Never the same.
            let body = "\(request.number) " + String(repeating: "x", count: 40_000)
            return ScriptedOrigin.Answer(200, body, [("Cache-Control", "max-age=3600")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            var count = 0
            for name in ["out/page", "page"] {
                for _ in 0..<2 {
                    let response = try await coordinator.get(
                        url, .doNotRead, into: .file(scene.directory.file(name))
                    ) { $0.caching.storesDownloads = true }
                    count += 1
                    let text = "\(count) " + String(repeating: "x", count: 40_000)
                    #expect(response.source == .network && scene.directory.content(name) == Array(text.utf8), "\(name)")
                    let stored = try await coordinator.get(url)
                    #expect(stored.source == .cache && stored.bodyText == text, "\(name)")
                }
            }
            #expect(try coordinator.cache?.usage().responses == 1)
            #expect(scene.count == count)
        }
    }

    @Test(
        "clearing gives the space of the tables back while others have the store open", arguments: Engine.allCases)
    func cleared(engine: Engine) async throws {
        try await withScene(engine) { request in
            ScriptedOrigin.Answer(200, String(repeating: ".", count: 9000), [("Cache-Control", "max-age=3600")])
        } _: { scene, coordinator in
            for number in 0..<200 { _ = try await coordinator.get(scene.origin.url("/\(number)")) }
            func size() throws -> Int {
                let attributes = try FileManager.default.attributesOfItem(atPath: scene.store + "/cache/data.mdb")
                return try #require(attributes[.size] as? Int)
            }
            #expect(try size() > 1_800_000)
            let clear = try CommandRun(["cache", "clear", "--store", scene.store])
            #expect(clear.status == 0 && clear.text == "200 removed\n", "\(clear.text)\(clear.errors)")
            #expect(try size() < 200_000)
            // Nobody answers from what is gone.
            for number in 0..<20 {
                #expect(try await coordinator.get(scene.origin.url("/\(number)")).source == .network, "\(number)")
            }
            // What came since is for all, once each has seen that the files are others.
            let end = ContinuousClock.now.advanced(by: .seconds(90))
            for number in 0..<20 {
                let url = scene.origin.url("/\(number)")
                while try await coordinator.get(url).source != .cache, ContinuousClock.now < end {}
                #expect(try await coordinator.get(url).source == .cache, "\(number)")
            }
            let stats = try CommandRun(["cache", "stats", "--json", "--store", scene.store])
            #expect(stats.text.contains("\"responses\":20,"), "\(stats.text)")
            #expect(try CommandRun(["cache", "verify", "--store", scene.store]).status == 0)
        }
    }

    @Test("a store that is removed beneath a running coordinator is made anew", arguments: Engine.allCases)
    func removed(engine: Engine) async throws {
        try await withScene(engine) {
            page($0.target, to: $0)
        } _: { scene, coordinator in
            let end = ContinuousClock.now.advanced(by: .seconds(90))
            /// Whether a page is stored in the end, and found; within a second what is gone is read no more.
            func isKept(_ name: String) async throws -> Bool {
                let url = scene.origin.url("/\(name)")
                while try await coordinator.get(url).source != .cache, ContinuousClock.now < end {}
                return try await coordinator.get(url).source == .cache
            }
            let isKeptBefore = try await isKept("before")
            #expect(isKeptBefore)
            try FileManager.default.removeItem(atPath: scene.store)
            let isKeptAfter = try await isKept("after")
            #expect(isKeptAfter)
            let list = try CommandRun(["cache", "ls", "--store", scene.store])
            #expect(list.text.contains("/after") && !list.text.contains("/before"), "\(list.text)\(list.errors)")
            #expect(coordinator.cacheProblem == nil)
        }
    }

    @Test("where a store that is removed cannot be made anew, the coordinator says so", arguments: Engine.allCases)
    func notMadeAnew(engine: Engine) async throws {
        try await withScene(engine) {
            page($0.target, to: $0)
        } _: { scene, coordinator in
            let end = ContinuousClock.now.advanced(by: .seconds(90))
            let before = scene.origin.url("/before")
            while try await coordinator.get(before).source != .cache, ContinuousClock.now < end {}
            // Who writes at that moment may make it anew between the two.
            var isReplaced = false
            for _ in 0..<1000 where !isReplaced {
                try? FileManager.default.removeItem(atPath: scene.store)
                isReplaced = (try? scene.directory.put("store", [1])) != nil
            }
            #expect(isReplaced)
            var number = 0
            while coordinator.cacheProblem == nil, ContinuousClock.now < end {
                #expect(try await coordinator.get(scene.origin.url("/\(number)")).status == 200)
                number += 1
            }
            #expect(coordinator.cacheProblem?.code == .storeUnusable)
            #expect(coordinator.cacheProblem?.detail.contains("no directory") == true)
        }
    }

    @Test("the newest response answers, however long it or another was to stay", arguments: Engine.allCases)
    func classes(engine: Engine) async throws {
        try await withScene(engine) {
            page("v\($0.number)", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let cache = try #require(coordinator.cache)
            for (index, storage) in [RequestOptions.Caching.Storage.session, .permanent, .session].enumerated() {
                _ = try await coordinator.get(url, .doNotRead) { $0.caching.storage = storage }
                let stored = try await coordinator.get(url)
                #expect(summary(stored) == "cache 200 v\(index + 1)")
                #expect(try cache.response(to: Request(url))?.storage == storage)
                #expect(try cache.usage().responses == 1)
            }
        }
    }

    @Test("what is known of a stored response is no field of it", arguments: Engine.allCases)
    func fields(engine: Engine) async throws {
        try await withScene(engine) {
            page("one", to: $0, [("X-Mine", "1"), ("X-Mine", "2")])
        } _: { scene, coordinator in
            let request = Request(scene.origin.url("/page"))
            func lines(_ fields: Fields) -> [String] {
                fields.all.filter { $0.name != "Age" }.map { "\($0.name): \($0.value)" }.sorted()
            }
            let first = lines(try await coordinator.send(request).fields)
            #expect(first.count == 7, "\(first)")
            #expect(lines(try await coordinator.send(request).fields) == first)
            #expect(try coordinator.cache?.response(to: request).map { lines($0.head.fields) } == first)
        }
    }

    @Test(
        "Clear-Site-Data over verified TLS, or of this machine, removes what is stored of that origin, and of no other",
        .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing))
    func clearSiteData() async throws {
        let directory = try TemporaryDirectory()
        try await TrustScene.with(adjust: { $0.store = .directory(directory.file("store")) }) { scene, coordinator in
            let target = "/?cache=max-age%3D60"
            for listener in ["good", "otherGood", "clear"] {
                _ = try await coordinator.send(scene.request(listener, target))
                #expect(try await coordinator.send(scene.request(listener, target)).source == .cache, "\(listener)")
            }
            // In clear it could be anybody's word, but not from a loopback address.
            for listener in ["clear", "good"] {
                _ = try await coordinator.send(scene.request(listener, "/?clear=%22cache%22"))
            }
            for (listener, source) in [("good", Response.Source.network), ("otherGood", .cache), ("clear", .network)] {
                #expect(try await coordinator.send(scene.request(listener, target)).source == source, "\(listener)")
            }
        }
    }
}
