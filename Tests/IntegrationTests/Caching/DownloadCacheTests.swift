import Foundation
import Testing
import Trawl

/// ASI-CACHE-26.
@Suite("A cache of the program's own", .timeLimit(.minutes(5)))
struct DownloadCacheTests {
    @Test("is asked for what is in memory there, and given what comes", arguments: Engine.allCases)
    func lookup(engine: Engine) async throws {
        let cache = ProgramCache()
        try await withScene(cache, engine) {
            page("one", to: $0, [("X-Mine", "kept")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            #expect(summary(try await coordinator.get(url + "#part")) == "network 200 one")
            let second = try await coordinator.get(url)
            #expect(summary(second) == "cache 200 one")
            #expect(second.fields["X-Mine"] == "kept")
            #expect(second.fields["Age"] != nil)
            #expect(second.metrics.isEmpty)
            #expect(scene.count == 1)
            #expect(cache.state.asked == [url, url], "without fragment")
            #expect(cache.entries(under: url).map(\.url) == [url])
            #expect(cache.entries(under: url).map(\.body) == [Array("one".utf8)])
            #expect(try scene.directory.names().filter { $0.hasPrefix("store") }.isEmpty, "nothing is stored elsewhere")
        }
    }

    @Test("keeps what the rules let be kept, and nothing else")
    func storing() async throws {
        let cache = ProgramCache()
        try await withScene(cache) { request in
            let status = request.target == "/error" ? 500 : 200
            let control = ["/never": "no-store", "/error": "no-cache"][request.target] ?? "max-age=60"
            return ScriptedOrigin.Answer(status, request.target, [("Cache-Control", control)])
        } _: { scene, coordinator in
            for target in ["/never", "/error", "/kept"] {
                for _ in 0..<2 { _ = try await coordinator.get(scene.origin.url(target)) }
            }
            _ = try await coordinator.send(Request(.post, scene.origin.url("/posted"), body: .text("x")))
            #expect(cache.state.entries.map(\.url) == [scene.origin.url("/kept")])
            #expect(scene.targets == ["/never", "/never", "/error", "/error", "/kept", "/posted"])
        }
    }

    @Test("is used as the request's policy says")
    func policies() async throws {
        let cache = ProgramCache()
        try await withScene(cache) {
            page("v\($0.number)", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            func answer(_ policy: CachePolicy) async throws -> String {
                summary(try await coordinator.get(url, policy))
            }
            #expect(try await answer(.doNotLoad) == "generated 504 ")
            let error = await failure {
                try await coordinator.get(url, .doNotLoad) { $0.caching.failsWhenNotCached = true }
            }
            #expect(error?.code == .notCached)
            #expect(try await answer(.doNotWrite) == "network 200 v1")
            #expect(cache.state.entries.isEmpty)
            #expect(try await answer([]) == "network 200 v2")
            #expect(try await answer(.doNotLoad) == "cache 200 v2")
            #expect(try await answer(.onlyLoadIfNotCached) == "cache 200 v2")
            #expect(try await answer(.doNotRead) == "network 200 v3")
            #expect(try await answer([]) == "cache 200 v3")
            #expect(try await answer(.askServerIfModified) == "network 200 v4", "the server has another by now")
            let asked = cache.state.asked.count
            let without = try await coordinator.get(url) { $0.caching.cache = .none }
            #expect(summary(without) == "network 200 v5")
            #expect(cache.state.asked.count == asked)
        }
    }

    @Test("gets a new entry for the old one when the server says that it is still right", arguments: Engine.allCases)
    func validates(engine: Engine) async throws {
        let cache = ProgramCache()
        try await withScene(cache, engine) {
            page("one", $0.number == 1 ? "max-age=0" : "max-age=60", to: $0, [("X-Number", "\($0.number)")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            let old = try #require(cache.entries(under: url).first)
            let second = try await coordinator.get(url)
            #expect(summary(second) == "revalidated 200 one")
            #expect(second.fields["X-Number"] == "2")
            #expect(scene.origin.seen().last?.fields["if-none-match"] == "\"one\"")
            #expect(cache.state.replaced == [old.id])
            let new = cache.entries(under: url)
            #expect(new.count == 1 && new.first?.id != old.id && new.first?.body == old.body)
            #expect(summary(try await coordinator.get(url)) == "cache 200 one")
            #expect(scene.count == 2)
        }
    }

    @Test("lets go of what a new answer takes the place of, and keeps one of each variant")
    func replacement() async throws {
        let cache = ProgramCache()
        try await withScene(cache) { request in
            let language = request.fields["accept-language"] ?? "?"
            return page("\(language) \(request.number)", to: request, [("Vary", "Accept-Language")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            for (language, text) in [("de", "network 200 de 1"), ("fr", "network 200 fr 2"), ("de", "cache 200 de 1")] {
                let response = try await coordinator.get(url, fields: ["Accept-Language": language])
                #expect(summary(response) == text)
            }
            #expect(cache.state.replaced.isEmpty)
            for (policy, number) in [(CachePolicy.doNotRead, 3), (.askServerIfModified, 4)] {
                let old = cache.entries(under: url).first { $0.body.starts(with: "de".utf8) }
                let response = try await coordinator.get(url, policy, fields: ["Accept-Language": "de"])
                #expect(summary(response) == "network 200 de \(number)")
                #expect(cache.state.replaced.last == old?.id)
                let bodies = cache.entries(under: url).map { String(decoding: $0.body, as: UTF8.self) }
                #expect(bodies.sorted() == ["de \(number)", "fr 2"])
            }
        }
    }

    @Test("is told to forget what a POST changed")
    func invalidation() async throws {
        let cache = ProgramCache()
        try await withScene(cache) {
            page("v\($0.number)", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            _ = try await coordinator.send(Request(.post, url, body: .text("x")))
            #expect(cache.state.removed == [url])
            #expect(summary(try await coordinator.get(url)) == "network 200 v3")
        }
    }

    @Test(
        "may lose, mix up and spoil its entries: what is not as it was given is not there", arguments: Spoiling.allCases
    )
    func failing(spoiling: Spoiling) async throws {
        let cache = ProgramCache()
        try await withScene(cache) {
            page("v\($0.number)", $0.target == "/other" ? "max-age=61" : "max-age=60", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let other = scene.origin.url("/other")
            for each in [url, other] { _ = try await coordinator.get(each) }
            try cache.spoil(url, other, spoiling)
            #expect(summary(try await coordinator.get(url)) == "network 200 v2")
            cache.heal()
            #expect(summary(try await coordinator.get(url)) == "cache 200 v2")
        }
    }

    @Test("may keep its entries where it wants, with data of its own, for the next coordinator")
    func persistent() async throws {
        /// What a program may keep: an entry, and what it knows of it.
        struct Kept: Codable {
            var entry: DownloadCacheEntry
            var rating: Int
        }
        var file = Data()
        try await withScene {
            page("one", to: $0)
        } _: { scene in
            let url = scene.origin.url("/page")
            let first = ProgramCache()
            try await scene.withCoordinator(adjust: { $0.downloadCache = first }) { _ = try await $0.get(url) }
            file = try JSONEncoder().encode(first.state.entries.map { Kept(entry: $0, rating: 5) })
            let second = ProgramCache()
            let kept = try JSONDecoder().decode([Kept].self, from: file)
            #expect(kept.map(\.entry) == first.state.entries && kept.map(\.rating) == [5])
            second.put(kept.map(\.entry))
            try await scene.withCoordinator(adjust: { $0.downloadCache = second }) { coordinator in
                let response = try await coordinator.get(url)
                #expect(summary(response) == "cache 200 one")
            }
            #expect(scene.count == 1)
        }
    }

    @Test("answers redirects on the way", arguments: Engine.allCases)
    func redirects(engine: Engine) async throws {
        let cache = ProgramCache()
        try await withScene(cache, engine) { request in
            request.target == "/old"
                ? ScriptedOrigin.Answer(301, "", [("Location", "/page"), ("Cache-Control", "max-age=60")])
                : page("one", to: request)
        } _: { scene, coordinator in
            for source in ["network", "cache"] {
                let response = try await coordinator.get(scene.origin.url("/old"))
                #expect(summary(response) == "\(source) 200 one")
                #expect(response.url == scene.origin.url("/page"))
                #expect(response.originalURL == scene.origin.url("/old"))
                #expect(response.redirects.map(\.status) == [301])
            }
            #expect(scene.targets == ["/old", "/page"])
        }
    }

    @Test("stands in when the server cannot be reached, if the policy says so")
    func fallback() async throws {
        let cache = ProgramCache()
        try await withScene(cache) {
            page("one", "max-age=0", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            scene.origin.stop()
            await failure(.cannotConnect) { try await coordinator.get(url) }
            #expect(summary(try await coordinator.get(url, .fallBackToCacheIfLoadFails)) == "stale 200 one")
        }
    }

    @Test("has no part in other fetches, in those with a certificate, and in none while caching is off")
    func others() async throws {
        let cache = ProgramCache()
        try await withScene(cache) {
            page("one", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            for _ in 0..<2 {
                _ = try await coordinator.get(url, into: .discard)
                _ = try await coordinator.start(Request(url)).response
            }
            for _ in 0..<2 { _ = try await coordinator.get(url) { $0.transport.clientCertificate = "/none" } }
            #expect(cache.state == ProgramCache.State())
            #expect(scene.count == 6)
            // What came unverified must not answer those who verify.
            _ = try await coordinator.get(url) { $0.transport.verifiesPeer = false }
            #expect(cache.state.entries.isEmpty)
        }
        try await withScene(adjust: {
            $0.downloadCache = cache
            $0.cache.isOn = false
        }) {
            page("one", to: $0)
        } _: { scene, coordinator in
            for _ in 0..<2 { _ = try await coordinator.get(scene.origin.url("/page")) }
            #expect(scene.count == 2)
            #expect(cache.state.entries.isEmpty)
        }
    }

    @Test("needs no session in a store")
    func session() async throws {
        let cache = ProgramCache()
        try await withScene(adjust: {
            $0.downloadCache = cache
            $0.cache.storage = .session
        }) {
            page("one", to: $0)
        } _: { scene, coordinator in
            for source in ["network", "cache"] {
                let response = try await coordinator.get(scene.origin.url("/page"))
                #expect(response.source.rawValue == source)
            }
            #expect(coordinator.cacheProblem == nil)
            #expect(try scene.directory.names().filter { $0.hasPrefix("store") }.isEmpty)
        }
    }
}

/// What a cache may do wrong.
enum Spoiling: CaseIterable {
    case forgets, cutsRecords, emptiesRecords, changesRecords, cutsBodies, mixesUp
}

/// A cache in memory, which tells what it was asked and can be made to do wrong.
private final class ProgramCache: DownloadCache {
    struct State: Equatable {
        var entries: [DownloadCacheEntry] = []
        var asked: [String] = []
        var replaced: [DownloadCacheEntry.ID] = []
        var removed: [String] = []
        /// What is given out in place of the entries.
        var spoiled: [DownloadCacheEntry]?
    }

    private let guarded = Guard(State())
    var state: State { guarded.withLock { $0 } }

    func entries(for url: String) async -> [DownloadCacheEntry] {
        guarded.withLock { state in
            state.asked.append(url)
            return state.spoiled ?? state.entries.filter { $0.url == url }
        }
    }

    func store(_ entry: DownloadCacheEntry, replacing: [DownloadCacheEntry.ID]) async {
        guarded.withLock { state in
            state.entries.removeAll { replacing.contains($0.id) }
            state.entries.append(entry)
            state.replaced += replacing
        }
    }

    func removeEntries(for url: String) async {
        guarded.withLock { state in
            state.removed.append(url)
            state.entries.removeAll { $0.url == url }
        }
    }

    func entries(under url: String) -> [DownloadCacheEntry] { state.entries.filter { $0.url == url } }
    func put(_ entries: [DownloadCacheEntry]) { guarded.withLock { $0.entries += entries } }
    func heal() { guarded.withLock { $0.spoiled = nil } }

    func spoil(_ url: String, _ other: String, _ spoiling: Spoiling) throws {
        func changed(_ entry: DownloadCacheEntry, _ record: [UInt8]? = nil, _ body: [UInt8]? = nil) throws
            -> DownloadCacheEntry
        {
            // As a program that keeps them as text would come to other values.
            struct Parts: Codable {
                var id: String
                var url: String
                var record: [UInt8]
                var body: [UInt8]
            }
            var parts = try JSONDecoder().decode(Parts.self, from: JSONEncoder().encode(entry))
            parts.record = record ?? parts.record
            parts.body = body ?? parts.body
            return try JSONDecoder().decode(DownloadCacheEntry.self, from: JSONEncoder().encode(parts))
        }
        let entries = entries(under: url)
        let spoiled: [DownloadCacheEntry] =
            switch spoiling {
            case .forgets: []
            case .cutsRecords:
                try entries.flatMap { entry in
                    try (0..<entry.record.count).map { try changed(entry, Array(entry.record[..<$0])) }
                }
            case .emptiesRecords: try entries.map { try changed($0, []) }
            case .changesRecords:
                // The version, which comes first.
                try entries.map { try changed($0, [0xFF, 0xFF] + $0.record.dropFirst(2)) }
            case .cutsBodies: try entries.map { try changed($0, nil, Array($0.body.dropLast())) }
            case .mixesUp: self.entries(under: other)
            }
        guarded.withLock { $0.spoiled = spoiled }
    }
}

/// A value behind a lock.
private final class Guard<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}

/// Runs `body` with a scene and a coordinator that has this cache.
private func withScene(
    _ cache: ProgramCache, _ engine: Engine = .workers,
    answering: @escaping @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer,
    _ body: (CacheScene, Coordinator) async throws -> Void
) async throws {
    try await withScene(engine, adjust: { $0.downloadCache = cache }, answering: answering, body)
}
