import Testing
import Trawl

@Suite(
    "Cache policies, ASI-CACHE-03 to 11, 19, 20, ASI-COOK-03, ASI-EVT-04, ULS-CACHE-02 to 05", .timeLimit(.minutes(5)))
struct CachePolicyTests {
    @Test("what is fresh answers, once, with all that was stored", arguments: Engine.allCases)
    func fresh(engine: Engine) async throws {
        try await withScene(engine) {
            page("one", to: $0, [("X-Mine", "kept"), ("Set-Cookie", "a=1; Path=/page")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let first = try await coordinator.get(url)
            #expect(summary(first) == "network 200 one")
            #expect(!first.isFromCache)
            let events = await allEvents(of: coordinator.start(Request(url))).map(word)
            #expect(events == ["started", "head 200", "ended"])
            let second = try await coordinator.get(url)
            #expect(summary(second) == "cache 200 one")
            #expect(second.isFromCache)
            #expect(second.fields["X-Mine"] == "kept")
            #expect(second.fields["ETag"] == "\"one\"")
            #expect(second.fields["Date"] == first.fields["Date"])
            #expect(second.fields["Age"] != nil)
            #expect(second.url == first.url)
            #expect(second.receivedLength == first.receivedLength)
            #expect(second.cookies.map(\.name) == ["a"] && second.cookies == first.cookies)
            let third = coordinator.start(Request(url))
            #expect(try await third.response.isFromCache)
            let progress = third.currentProgress
            #expect(progress.isComplete && progress.download.completed == 3 && progress.download.fraction == 1)
            #expect(scene.count == 1)
        }
    }

    @Test("what is stale is asked about with its validators, and a 304 makes it fresh", arguments: Engine.allCases)
    func validates(engine: Engine) async throws {
        try await withScene(engine) { request in
            let modified = ("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT")
            let number = ("X-Number", "\(request.number)")
            return page("one", request.number == 1 ? "max-age=0" : "max-age=60", to: request, [modified, number])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            let second = try await coordinator.get(url)
            #expect(summary(second) == "revalidated 200 one")
            #expect(second.fields["X-Number"] == "2", "a 304 updates what is stored")
            #expect(summary(try await coordinator.get(url)) == "cache 200 one")
            let seen = scene.origin.seen()
            try #require(seen.count == 2)
            #expect(seen[1].method == "GET")
            #expect(seen[1].fields["if-none-match"] == "\"one\"")
            #expect(seen[1].fields["if-modified-since"] == "Wed, 01 Jan 2020 00:00:00 GMT")
        }
    }

    @Test("a new answer takes the place of the old one", arguments: Engine.allCases)
    func replaces(engine: Engine) async throws {
        try await withScene(engine) {
            page("v\($0.number)", $0.number == 1 ? "max-age=0" : "max-age=60", to: $0)
        } _: {
            scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            #expect(summary(try await coordinator.get(url)) == "network 200 v2")
            #expect(summary(try await coordinator.get(url)) == "cache 200 v2")
            #expect(scene.count == 2)
        }
    }

    @Test("always asking asks about what is fresh, and the newest answer wins", arguments: Engine.allCases)
    func alwaysAsks(engine: Engine) async throws {
        try await withScene(engine) {
            page($0.number < 3 ? "one" : "two", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let first = try await coordinator.get(url, .askServerIfModified)
            #expect(summary(first) == "network 200 one")
            #expect(summary(try await coordinator.get(url, .askServerIfModified)) == "revalidated 200 one")
            #expect(summary(try await coordinator.get(url, .askServerIfModified)) == "network 200 two")
            #expect(summary(try await coordinator.get(url)) == "cache 200 two")
            #expect(scene.origin.seen().map { $0.fields["if-none-match"] } == [nil, "\"one\"", "\"one\""])
        }
    }

    @Test(
        "a body that the server sends though its tag is the stored one is left on the way, where that is wanted",
        arguments: Engine.allCases)
    func equalTag(engine: Engine) async throws {
        let body = String(repeating: "0123456789abcdef", count: 128 << 10)
        try await withScene(engine) { request in
            // It knows no conditions.
            let tag = request.target == "/weak" ? "W/\"1\"" : "\"\(request.target == "/new" ? request.number : 1)\""
            return ScriptedOrigin.Answer(200, body, [("Cache-Control", "max-age=0"), ("ETag", tag)])
        } _: { scene, coordinator in
            for (target, source) in [("/same", Response.Source.revalidated), ("/weak", .network), ("/new", .network)] {
                let url = scene.origin.url(target)
                _ = try await coordinator.get(url)
                let usual = try await coordinator.get(url)
                #expect(usual.source == .network, "nobody asked for it: \(target)")
                let response = try await coordinator.get(url) { $0.caching.stopsAtEqualTag = true }
                #expect(response.source == source, "\(target)")
                #expect(response.status == 200 && response.body.bytes == Array(body.utf8), "\(target)")
                let received = try #require(response.metrics.last).bytesReceived
                #expect((received < UInt64(body.utf8.count / 2)) == (source == .revalidated), "\(target): \(received)")
                #expect(scene.origin.seen(target).last?.fields["if-none-match"] != nil)
                // The connection is given up with the body.
                #expect(try await coordinator.get(url).body.bytes == Array(body.utf8), "\(target)")
            }
            let file = scene.directory.file("out/same")
            let saved = try await coordinator.get(scene.origin.url("/same"), into: .file(file)) {
                $0.caching.stopsAtEqualTag = true
            }
            #expect(saved.source == .revalidated && scene.directory.content("out/same") == Array(body.utf8))
        }
    }

    @Test("any stored answer will do when only what is not cached is loaded", arguments: Engine.allCases)
    func onlyIfNotCached(engine: Engine) async throws {
        try await withScene(engine) {
            page("old", "max-age=0", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let first = try await coordinator.get(url, .onlyLoadIfNotCached)
            #expect(summary(first) == "network 200 old")
            scene.origin.stop()
            #expect(summary(try await coordinator.get(url, .onlyLoadIfNotCached)) == "stale 200 old")
            #expect(summary(try await coordinator.get(url, .returnCacheDataElseLoad)) == "stale 200 old")
            await failure(.cannotConnect) {
                try await coordinator.get(scene.origin.url("/other"), .onlyLoadIfNotCached)
            }
        }
    }

    @Test("without loading there is what is stored or nothing", arguments: Engine.allCases)
    func doNotLoad(engine: Engine) async throws {
        try await withScene(engine) {
            page("old", "max-age=0", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let nothing = try await coordinator.get(url, .doNotLoad)
            #expect(summary(nothing) == "generated 504 ")
            #expect(!nothing.isFromCache)
            #expect(nothing.receivedLength == 0)
            await failure(.notCached) {
                try await coordinator.get(url, .doNotLoad) { $0.caching.failsWhenNotCached = true }
            }
            let events = await allEvents(of: coordinator.start(Request(url, options: .offline))).map(word)
            #expect(events == ["started", "ended"] || events == ["started", "head 504", "ended"], "\(events)")
            #expect(scene.count == 0)

            _ = try await coordinator.get(url)
            scene.origin.stop()
            #expect(summary(try await coordinator.get(url, .doNotLoad)) == "stale 200 old")
            #expect(summary(try await coordinator.get(url, .returnCacheDataDontLoad)) == "stale 200 old")
            #expect(scene.count == 1)
        }
    }

    @Test("only-if-cached in the request means the same", arguments: Engine.allCases)
    func onlyIfCached(engine: Engine) async throws {
        try await withScene(engine) {
            page("one", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let fields: Fields = ["Cache-Control": "only-if-cached"]
            #expect(summary(try await coordinator.get(url, fields: fields)) == "generated 504 ")
            _ = try await coordinator.get(url)
            #expect(summary(try await coordinator.get(url, fields: fields)) == "cache 200 one")
            #expect(scene.count == 1)
        }
    }

    @Test("what is stored is not read, no condition is sent, and the answer is stored", arguments: Engine.allCases)
    func doNotRead(engine: Engine) async throws {
        try await withScene(engine) {
            page("v\($0.number)", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let policies: [CachePolicy] = [
                .doNotRead, .reloadIgnoringLocalCacheData, [.doNotRead, .askServerIfModified],
                .reloadIgnoringLocalAndRemoteCacheData,
            ]
            for (index, policy) in policies.enumerated() {
                let response = try await coordinator.get(url, policy)
                #expect(summary(response) == "network 200 v\(index + 1)")
            }
            #expect(summary(try await coordinator.get(url)) == "cache 200 v4")
            let seen = scene.origin.seen()
            #expect(seen.allSatisfy { $0.fields["if-none-match"] == nil && $0.fields["if-modified-since"] == nil })
            // ULS-CACHE-03: caches on the way hear of it only when they are meant too.
            #expect(seen.map { $0.fields["cache-control"] } == [nil, nil, nil, "no-cache"])
        }
    }

    @Test("nothing is stored or changed without writing", arguments: Engine.allCases)
    func doNotWrite(engine: Engine) async throws {
        try await withScene(engine) {
            page("one", $0.number == 3 ? "max-age=0" : "max-age=60", to: $0)
        } _: {
            scene, coordinator in
            let url = scene.origin.url("/page")
            for _ in 0..<2 { #expect(summary(try await coordinator.get(url, .doNotWrite)) == "network 200 one") }
            _ = try await coordinator.get(url)
            #expect(summary(try await coordinator.get(url, .doNotWrite)) == "revalidated 200 one")
            // Its max-age=60 was not written down.
            #expect(summary(try await coordinator.get(url)) == "revalidated 200 one")
            #expect(scene.count == 5)
        }
    }

    @Test("what is stored stands in for a load that fails, where that is wanted", arguments: Engine.allCases)
    func fallsBack(engine: Engine) async throws {
        try await withScene(engine) { request in
            page("old", request.target == "/strict" ? "max-age=0, must-revalidate" : "max-age=0", to: request)
        } _: { scene, coordinator in
            let (url, strict) = (scene.origin.url("/page"), scene.origin.url("/strict"))
            _ = try await coordinator.get(url)
            _ = try await coordinator.get(strict)
            scene.origin.stop()
            let policy: CachePolicy = [.fallBackToCacheIfLoadFails, .askServerIfModified]
            for policy in [.fallBackToCacheIfLoadFails, policy] {
                #expect(summary(try await coordinator.get(url, policy)) == "stale 200 old")
            }
            let file = scene.directory.file("out/page")
            let response = try await coordinator.get(url, policy, into: .file(file))
            #expect(response.source == .stale)
            #expect(scene.directory.content("out/page") == Array("old".utf8))
            #expect(
                try await readStream(coordinator.start(Request(url, options: .fallingBack), into: .stream))
                    == Array("old".utf8))
            await failure(.cannotConnect) { try await coordinator.get(url) }
            await failure(.cannotConnect) { try await coordinator.get(strict, policy) }
            await failure(.cannotConnect) { try await coordinator.get(scene.origin.url("/none"), policy) }
        }
    }

    @Test(
        "what is stale when it is its worker's turn is validated, and stands in where the server does not answer",
        arguments: [false, true])
    func staleInLine(isDown: Bool) async throws {
        let held = Occasion()
        try await withScene(workers: 1, adjust: { $0.transfersPerWorker = 1 }) { request in
            if request.target == "/busy" { held.wait() }
            if isDown, request.number > 1 { return .nothing }
            return page("one", request.number == 1 ? "max-age=2" : "max-age=60", to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            let request = Request(scene.origin.url("/page"), options: .fallingBack)
            _ = try await coordinator.send(request)
            let busy = coordinator.start(Request(scene.origin.url("/busy")))
            #expect(await eventually { scene.origin.seen("/busy").count == 1 })
            let fetch = coordinator.start(request, into: .file(scene.directory.file("out/page")))
            let isStale = try await eventually { try coordinator.cache?.response(to: request)?.isFresh == false }
            #expect(isStale)
            held.open()
            let response = try await fetch.response
            #expect(response.source == (isDown ? .stale : .revalidated))
            #expect(scene.directory.content("out/page") == Array("one".utf8))
            let asked = scene.origin.seen("/page").dropFirst()
            #expect(!asked.isEmpty && asked.allSatisfy { $0.fields["if-none-match"] == "\"one\"" })
            _ = try await busy.response
        }
    }

    @Test(
        "it also stands in where it is known that the name is not found",
        .enabled(if: Resolver.knowsNobody, Resolver.missing), arguments: Engine.allCases)
    func unknownName(engine: Engine) async throws {
        try await withScene(engine) {
            page("one", to: $0)
        } _: { scene, coordinator in
            let cache = try #require(coordinator.cache)
            for (host, control, policy) in [
                ("wanted.invalid", "max-age=0", .fallBackToCacheIfLoadFails),
                ("allowed.invalid", "max-age=0, stale-if-error=600", []),
            ] as [(String, String, CachePolicy)] {
                let url = "http://\(host)/page"
                try await cache.insert(fields: ["Cache-Control": control], body: Array("old".utf8), for: Request(url))
                for path in ["a", "b"] {
                    await failure(.hostNotFound) { try await coordinator.get("http://\(host)/\(path)", policy) }
                }
                let response = try await coordinator.get(url, policy)
                #expect(summary(response) == "stale 200 old")
                let file = scene.directory.file("out/\(host)")
                let saved = try await coordinator.get(url, policy, into: .file(file))
                #expect(saved.source == .stale && scene.directory.content("out/\(host)") == Array("old".utf8))
                let streamed = try await readStream(
                    coordinator.start(Request(url, options: .with(policy)), into: .stream))
                #expect(streamed == Array("old".utf8))
            }
            await failure(.hostNotFound) { try await coordinator.get("http://wanted.invalid/page") }
        }
    }

    @Test("and where its host is given up")
    func givenUp() async throws {
        try await withScene(adjust: {
            var circuit = HostPoliteness.Circuit()
            circuit.failuresInRow = 2
            circuit.retiresAfter = 0
            $0.politeness.circuit = circuit
        }) {
            page("one", to: $0)
        } _: { _, coordinator in
            let (host, fields) = ("http://127.0.0.1:1", ["Cache-Control": "max-age=0"] as Fields)
            let cache = try #require(coordinator.cache)
            try await cache.insert(fields: fields, body: Array("old".utf8), for: Request(host + "/page"))
            for path in ["/a", "/b"] { await failure(.cannotConnect) { try await coordinator.get(host + path) } }
            await failure(.hostGivenUp) { try await coordinator.get(host + "/page") }
            let response = try await coordinator.get(host + "/page", .fallBackToCacheIfLoadFails)
            #expect(summary(response) == "stale 200 old")
        }
    }

    @Test("and where the time is up before it is its turn", arguments: Engine.allCases, ["max-age=0", "max-age=60"])
    func timeUpInQueue(engine: Engine, control: String) async throws {
        let held = Occasion()
        try await withScene(engine, adjust: { $0.connectionsPerHost = 1 }) { request in
            if request.target == "/held" { held.wait() }
            return page("old", control, to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            let other = coordinator.start(Request(scene.origin.url("/held")))
            #expect(await eventually { scene.origin.seen("/held").count == 1 })
            let policy: CachePolicy = [.askServerIfModified, .fallBackToCacheIfLoadFails]
            let response = try await coordinator.get(url, policy) {
                $0.timeLimits.resource = .milliseconds(200)
            }
            #expect(summary(response) == "stale 200 old")
            let file = scene.directory.file("out/page")
            let saved = try await coordinator.get(url, policy, into: .file(file)) {
                $0.timeLimits.resource = .milliseconds(200)
            }
            #expect(saved.source == .stale && scene.directory.content("out/page") == Array("old".utf8))
            await failure(.timeout) {
                try await coordinator.get(url, .askServerIfModified) { $0.timeLimits.resource = .milliseconds(200) }
            }
            #expect(scene.origin.seen("/page").count == 1)
            held.open()
            _ = try await other.response
        }
    }

    @Test("where it is forced, what must be validated stands in too", arguments: Engine.allCases)
    func forced(engine: Engine) async throws {
        try await withScene(engine) {
            page("old", "max-age=0, must-revalidate", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            scene.origin.stop()
            await failure(.cannotConnect) { try await coordinator.get(url, .fallBackToCacheIfLoadFails) }
            let response = try await coordinator.get(url, .fallBackToCacheIfLoadFails) {
                $0.caching.forcesFallback = true
            }
            #expect(summary(response) == "stale 200 old")
        }
    }

    @Test("a request that wants what is stored is not sent where there is no cache", arguments: Engine.allCases)
    func onlyStored(engine: Engine) async throws {
        try await withScene {
            page("one", to: $0)
        } _: { scene in
            let fields: Fields = ["Cache-Control": "max-stale, only-if-cached"]
            for store in [Configuration.Store.none, .directory("/proc/trawl/store")] {
                try await scene.withCoordinator(engine, adjust: { $0.store = store }) { coordinator in
                    let url = scene.origin.url("/page")
                    #expect(summary(try await coordinator.get(url, fields: fields)) == "generated 504 ")
                    #expect(try await coordinator.start(Request(url, fields: fields)).response.status == 504)
                    let sent = try await coordinator.get(url, fields: fields) {
                        $0.caching.respectsCacheControl = false
                    }
                    #expect(sent.source == .network)
                }
            }
            #expect(scene.count == 2)
        }
    }

    @Test("a policy that asks always and when stale is a mistake, which a debug build tells")
    func contradiction() async {
        #expect(!CachePolicy([.askServerIfModified, .askServerIfStale]).isConsistent)
        #expect(CachePolicy([.askServerIfModified, .doNotWrite, .fallBackToCacheIfLoadFails]).isConsistent)
        #if DEBUG
            await #expect(processExitsWith: .failure) {
                try await withScene {
                    page("one", to: $0)
                } _: { scene, coordinator in
                    let url = scene.origin.url("/page")
                    _ = try await coordinator.get(url, [.askServerIfModified, .askServerIfStale])
                }
            }
        #endif
    }

    @Test("the request's policy wins over the coordinator's, which wins over the protocol's")
    func defaults() async throws {
        try await withScene(adjust: { $0.cache.policy = .onlyLoadIfNotCached }) {
            page("one", "max-age=0", to: $0)
        } _: {
            scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            #expect(summary(try await coordinator.get(url)) == "stale 200 one")
            #expect(summary(try await coordinator.get(url, .useProtocolCachePolicy)) == "revalidated 200 one")
            #expect(summary(try await coordinator.get(url, .doNotRead)) == "network 200 one")
            #expect(scene.count == 3)
        }
    }

    @Test("a cancelled fetch is not answered from the store")
    func cancels() async throws {
        let held = Occasion()
        try await withScene { request in
            if request.number > 1 { held.wait() }
            return page("old", "max-age=0", to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            let fetch = coordinator.start(Request(url, options: .fallingBack))
            #expect(await eventually { scene.count == 2 })
            fetch.cancel()
            await failure(.cancelled) { try await fetch.response }
        }
    }

    @Test("a cache that is switched off, by configuration or request, does nothing", arguments: Engine.allCases)
    func off(engine: Engine) async throws {
        try await withScene {
            page("v\($0.number)", to: $0)
        } _: { scene in
            let url = scene.origin.url("/page")
            try await scene.withCoordinator(engine, adjust: { $0.cache.isOn = false }) { coordinator in
                for number in 1...2 {
                    let response = try await coordinator.get(url)
                    #expect(summary(response) == "network 200 v\(number)")
                }
            }
            try await scene.withCoordinator(engine, adjust: { $0.store = .none }) { coordinator in
                let response = try await coordinator.get(url)
                #expect(summary(response) == "network 200 v3")
            }
            #expect(try !scene.directory.names().contains("store/cache"))
            try await scene.withCoordinator(engine) { coordinator in
                let response = try await coordinator.get(url) { $0.caching.cache = .none }
                #expect(summary(response) == "network 200 v4")
                #expect(summary(try await coordinator.get(url)) == "network 200 v5")
                #expect(summary(try await coordinator.get(url) { $0.caching.cache = .none }) == "network 200 v6")
                #expect(summary(try await coordinator.get(url)) == "cache 200 v5")
            }
        }
    }
}

extension RequestOptions {
    /// Nothing but what is stored.
    fileprivate static var offline: RequestOptions { with(.doNotLoad) }
    /// What is stored when the load fails.
    fileprivate static var fallingBack: RequestOptions { with(.fallBackToCacheIfLoadFails) }

    /// The usual ones with a cache policy.
    static func with(_ policy: CachePolicy) -> RequestOptions {
        var options = RequestOptions()
        options.caching.policy = policy
        return options
    }
}
