import Foundation
import Glibc
import Testing
import Trawl

@Suite("Where responses are stored, and for how long, ASI-CACHE-01, 12, 13, POOL-12", .timeLimit(.minutes(5)))
struct CacheStorageTests {
    @Test("what is stored permanently is there for the next coordinator", arguments: Engine.allCases)
    func permanent(engine: Engine) async throws {
        try await withScene {
            page(Self.text(of: $0), to: $0)
        } _: { scene in
            for source in ["network", "cache"] {
                try await scene.withCoordinator(engine) { coordinator in
                    for target in ["/short", "/long"] {
                        let response = try await coordinator.get(scene.origin.url(target))
                        #expect(response.source.rawValue == source)
                        #expect(response.bodyText.hasPrefix(target))
                    }
                }
            }
        }
    }

    @Test("what is stored for a session ends with its coordinator", arguments: Engine.allCases)
    func session(engine: Engine) async throws {
        try await withScene {
            page(Self.text(of: $0), to: $0)
        } _: { scene in
            for round in 0..<2 {
                try await scene.withCoordinator(engine, adjust: { $0.cache.storage = .session }) { coordinator in
                    for source in ["network", "cache"] {
                        for target in ["/short", "/long"] {
                            let response = try await coordinator.get(scene.origin.url(target))
                            #expect(response.source.rawValue == source, "\(target) in round \(round)")
                        }
                        let kept = try await coordinator.get(scene.origin.url("/kept")) {
                            $0.caching.storage = .permanent
                        }
                        #expect(kept.source.rawValue == (round == 0 ? source : "cache"))
                    }
                }
            }
            #expect(scene.count == 5)
        }
    }

    @Test("what is meant for a session is stored once one can be begun", arguments: Engine.allCases)
    func noSessionYet(engine: Engine) async throws {
        try await withScene {
            page("one", to: $0)
        } _: { scene in
            try await scene.withCoordinator(engine) { coordinator in
                _ = try await coordinator.get(scene.origin.url("/first"))
                // Where sessions would be, there is a file.
                try scene.directory.put("store/cache/sessions", [])
                for _ in 0..<2 {
                    let response = try await coordinator.get(scene.origin.url("/page")) {
                        $0.caching.storage = .session
                    }
                    #expect(response.source == .network)
                }
                try FileManager.default.removeItem(atPath: scene.directory.file("store/cache/sessions"))
                for source in [Response.Source.network, .cache] {
                    let response = try await coordinator.get(scene.origin.url("/page")) {
                        $0.caching.storage = .session
                    }
                    #expect(response.source == source)
                }
            }
        }
    }

    @Test("clearing a session leaves those of other living coordinators")
    func ownSession() async throws {
        try await withScene {
            page("one", to: $0)
        } _: { scene in
            try await scene.withCoordinator(adjust: { $0.cache.storage = .session }) { one in
                try await scene.withCoordinator(.inProcess, adjust: { $0.cache.storage = .session }) { other in
                    _ = try await one.get(scene.origin.url("/one"))
                    _ = try await other.get(scene.origin.url("/other"))
                    let cache = try #require(one.cache)
                    #expect(try await cache.removeAll(storage: .session) == 1)
                    #expect(try await other.get(scene.origin.url("/other")).source == .cache)
                    #expect(try await other.get(scene.origin.url("/one")).source == .network)
                }
            }
        }
    }

    @Test("what a killed coordinator stored for its session is gone for the next")
    func deadSession() async throws {
        try await withScene {
            page("one", to: $0)
        } _: { scene in
            let url = scene.origin.url("/page")
            await #expect(processExitsWith: .signal(SIGKILL)) { [store = scene.store as String, url = url as String] in
                var configuration = try testConfiguration(workers: 0)
                configuration.store = .directory(store)
                configuration.cache.storage = .session
                let coordinator = try Coordinator(configuration)
                _ = try await coordinator.get(url)
                // One that is let go of ends its session.
                withExtendedLifetime(coordinator) { _ = kill(getpid(), SIGKILL) }
            }
            #expect(scene.count == 1)
            #expect(try scene.directory.names().contains { $0.hasPrefix("store/cache/sessions/") })
            try await scene.withCoordinator(.inProcess) { coordinator in
                let cache = try #require(coordinator.cache)
                let isGone = await eventually { (try? cache.usage().responses) == 0 }
                #expect(isGone)
                #expect(try await coordinator.get(url).source == .network)
            }
        }
    }

    @Test("two coordinators on one directory see what the other stored, validated and removed")
    func shared() async throws {
        try await withScene { request in
            request.method == "GET"
                ? page(
                    "v1", request.target == "/stale" && request.number == 1 ? "max-age=0" : "max-age=60", to: request)
                : ScriptedOrigin.Answer(200, "")
        } _: { scene in
            try await scene.withCoordinator { one in
                try await scene.withCoordinator(.inProcess) { other in
                    for target in ["/page", "/stale"] {
                        #expect(try await one.get(scene.origin.url(target)).source == .network)
                    }
                    #expect(try await other.get(scene.origin.url("/page")).source == .cache)
                    #expect(try await other.get(scene.origin.url("/stale")).source == .revalidated)
                    #expect(try await one.get(scene.origin.url("/stale")).source == .cache)
                    _ = try await other.send(Request(.post, scene.origin.url("/page"), body: .text("x")))
                    #expect(try await one.get(scene.origin.url("/page")).source == .network)
                }
            }
        }
    }

    @Test("the session of one coordinator survives the end of another")
    func sessions() async throws {
        try await withScene {
            page("one", to: $0)
        } _: { scene in
            let url = scene.origin.url("/page")
            try await scene.withCoordinator(adjust: { $0.cache.storage = .session }) { coordinator in
                _ = try await coordinator.get(url)
                for _ in 0..<2 {
                    try await scene.withCoordinator(adjust: { $0.cache.storage = .session }) { other in
                        _ = try await other.get(scene.origin.url("/other"), .doNotRead)
                    }
                }
                #expect(try await coordinator.get(url).source == .cache)
            }
        }
    }

    @Test("nothing is stored for a session that cannot be begun", arguments: Engine.allCases)
    func noSession(engine: Engine) async throws {
        try await withScene {
            page(Self.text(of: $0), to: $0)
        } _: { scene in
            // As on a full disk, nothing can be made in there.
            try FileManager.default.createDirectory(
                atPath: scene.store + "/cache", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            #expect(FileManager.default.createFile(atPath: scene.store + "/cache/sessions", contents: nil))
            let page = scene.origin.url("/page")
            try await scene.withCoordinator(engine, adjust: { $0.cache.storage = .session }) { coordinator in
                for target in ["/short", "/long", "/short", "/long"] {
                    #expect(try await coordinator.get(scene.origin.url(target)).source == .network)
                }
                let cache = try #require(coordinator.cache)
                await #expect(throws: FetchError.self) {
                    try await cache.insert(fields: [:], body: [1], for: Request(page))
                }
                for source in ["network", "cache"] {
                    let kept = try await coordinator.get(page) { $0.caching.storage = .permanent }
                    #expect(kept.source.rawValue == source)
                }
                #expect(try cache.usage().responses == 1)
            }
            try await scene.withCoordinator(engine, adjust: { $0.decisions = ForSessions() }) { coordinator in
                for _ in 0..<2 {
                    let response = try await coordinator.get(scene.origin.url("/other"))
                    #expect(response.source == .network)
                }
            }
        }
    }

    @Test(
        "what a coordinator that was killed had stored for its session is gone for the next one",
        arguments: Engine.allCases)
    func deadSession(engine: Engine) async throws {
        try await withScene {
            page(Self.text(of: $0), to: $0)
        } _: { scene in
            let copy = scene.directory.file("copy")
            try await scene.withCoordinator(engine, adjust: { $0.cache.storage = .session }) { coordinator in
                for target in ["/short", "/long"] { _ = try await coordinator.get(scene.origin.url(target)) }
                _ = try await coordinator.get(scene.origin.url("/kept")) { $0.caching.storage = .permanent }
                // As a kill now would leave it: the session's file is there, and nobody holds it.
                try FileManager.default.copyItem(atPath: scene.store, toPath: copy)
            }
            try await scene.withCoordinator(engine, adjust: { $0.store = .directory(copy) }) { coordinator in
                let kept = try await coordinator.get(scene.origin.url("/kept"))
                #expect(kept.source == .cache)
                let isGone = await eventually { (try? coordinator.cache?.usage().responses) == 1 }
                #expect(isGone)
                for target in ["/short", "/long"] {
                    #expect(try await coordinator.get(scene.origin.url(target)).source == .network)
                }
            }
        }
    }

    @Test("requests may each have a cache of their own", arguments: Engine.allCases)
    func several(engine: Engine) async throws {
        try await withScene(engine) {
            page("v\($0.number)", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let caches: [RequestOptions.Caching.Choice] = [
                .shared, .at(scene.directory.file("second")), .at(scene.directory.file("third")),
            ]
            for source in ["network", "cache"] {
                for (index, cache) in caches.enumerated() {
                    let response = try await coordinator.get(url) { $0.caching.cache = cache }
                    #expect(summary(response) == "\(source) 200 v\(index + 1)")
                }
            }
            let same = try await coordinator.get(url) { $0.caching.cache = .at(scene.store) }
            #expect(summary(same) == "cache 200 v1")
            #expect(coordinator.cacheProblem == nil)
        }
    }

    @Test("nobody else can read the store", arguments: Engine.allCases)
    func modes(engine: Engine) async throws {
        try await withScene(engine) {
            page(Self.text(of: $0), to: $0)
        } _: { scene, coordinator in
            for target in ["/short", "/long"] { _ = try await coordinator.get(scene.origin.url(target)) }
            for name in try scene.directory.names() where name.hasPrefix("store") {
                var info = stat()
                #expect(lstat(scene.directory.file(name), &info) == 0)
                #expect(info.st_mode & 0o077 == 0, "\(name): \(String(info.st_mode, radix: 8))")
            }
        }
    }

    @Test("the cache keeps to its budget (ULS-CACHE-01)", arguments: Engine.allCases)
    func budget(engine: Engine) async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let store = directory.file("store")
            try await withTestCoordinator(workers: engine.workers) {
                $0.store = .directory(store)
                $0.cache.byteBudget = 4 << 20
            } _: { coordinator in
                for number in 0..<100 {
                    let url = origin.url("/bytes/200000?seed=\(number)&field=Cache-Control:%20max-age=60")
                    let response = try await coordinator.get(url)
                    #expect(response.body.bytes == ReferenceBytes.bytes(200_000, seed: UInt64(number)))
                }
                func bytes() throws -> Int {
                    try FileManager.default.subpathsOfDirectory(atPath: store + "/cache/blobs").reduce(0) { sum, name in
                        var info = stat()
                        guard lstat(store + "/cache/blobs/" + name, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
                            return sum
                        }
                        return sum + Int(info.st_size)
                    }
                }
                #expect(try await eventually { try bytes() <= 4 << 20 })
                #expect(try bytes() > 1 << 20)
                let last = origin.url("/bytes/200000?seed=99&field=Cache-Control:%20max-age=60")
                #expect(try await coordinator.get(last).source == .cache)
            }
        }
    }

    /// A body that fits into a record, or one that does not.
    private static func text(of request: ScriptedOrigin.Seen) -> String {
        request.target == "/long" ? String(repeating: "/long ", count: 10_000) : request.target
    }
}

/// Wants everything to be stored for a session.
private struct ForSessions: FetchDecisions {
    func storing(
        _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
    ) async -> StoringChoice? {
        StoringChoice(storage: .session)
    }
}
