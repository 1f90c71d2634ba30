import Foundation
import Glibc
import Testing
import Trawl
import TrawlFoundation

/// ULS-CACHE-06, ULS-CACHE-07, ASI-CACHE-14, ASI-CACHE-23.
@Suite("The cache in a program's hands, ASI-CACHE-14, 23, ULS-CACHE-07, ULS-LIFE-11", .timeLimit(.minutes(3)))
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
                #expect(try stored.encodedBody().count == length)
            }
            #expect(try cache.usage().responses == 2)
            #expect(scene.count == 2)
        }
    }

    @Test("the file of a stored body can be asked for, and is never the one a fetch makes", arguments: Engine.allCases)
    func bodyFiles(engine: Engine) async throws {
        let body = (0..<50_000).map { String($0 % 10) }.joined()
        try await withScene(engine) { request in
            ScriptedOrigin.Answer(
                200, request.target == "/short" ? "short" : body, [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")])
        } _: { scene, coordinator in
            let cache = try #require(coordinator.cache)
            let (short, long) = (Request(scene.origin.url("/short")), Request(scene.origin.url("/long")))
            #expect(try cache.bodyFile(for: long) == nil)
            for request in [short, long] { _ = try await coordinator.send(request) }
            #expect(try cache.bodyFile(for: short) == nil)
            let stored = try #require(try cache.bodyFile(for: long))
            #expect(stored.hasPrefix(scene.store + "/cache/blobs/"))
            #expect(try cache.bodyURL(for: long)?.path == stored)
            #expect(FileManager.default.contents(atPath: stored).map(Array.init) == Array(body.utf8))

            let path = scene.directory.file("out/long")
            #expect(try await coordinator.send(long, into: .file(path)).source == .cache)
            #expect(scene.directory.content("out/long") == Array(body.utf8))
            var (there, here) = (stat(), stat())
            #expect(stat(stored, &there) == 0)
            #expect(stat(path, &here) == 0)
            #expect(there.st_ino != here.st_ino && there.st_nlink == 1 && here.st_nlink == 1)
            // What the caller does to its own file is no business of the cache.
            try scene.directory.put("out/long", [1])
            #expect(try cache.bodyFile(for: long) == stored)
            #expect(try await coordinator.send(long).bodyText == body)

            // A damaged one is not told, and goes.
            #expect(chmod(stored, 0o600) == 0)
            #expect(truncate(stored, 49_999) == 0)
            #expect(try cache.bodyFile(for: long) == nil)
            #expect(try await coordinator.send(long).bodyText == body)
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
            let kept = try #require(try cache.response(to: Request(scene.origin.url("/kept"))))
            let later = try await cache.removeAll(storedSince: kept.date + 3_600_000)
            let since = try await cache.removeAll(storedSince: kept.date - 1000)
            #expect(later == 0 && since == 1)
        }
    }

    @Test("the request's lifetime wins over the fields of what is put in by hand, in whole seconds")
    func lifetime() async throws {
        try await withScene {
            page("served", to: $0)
        } _: { scene, coordinator in
            let cache = try #require(coordinator.cache)
            for (milliseconds, control) in [(60_900, "max-age=0"), (900, "max-age=60")] {
                var request = Request(scene.origin.url("/\(milliseconds)"))
                request.options.caching.lifetime = .milliseconds(milliseconds)
                try await cache.insert(
                    fields: ["Cache-Control": control], body: Array("by hand".utf8), for: request)
                let stored = try #require(try cache.response(to: request))
                #expect(stored.isFresh == (milliseconds > 1000), "\(milliseconds) ms")
            }
        }
    }

    @Test("what could not be given back is not taken")
    func refuses() async throws {
        try await withScene {
            page("one", to: $0)
        } _: { scene, coordinator in
            let cache = try #require(coordinator.cache)
            let request = Request(scene.origin.url("/page"))
            let fields: Fields = ["Cache-Control": "max-age=60"]
            for status in [-1, 0, 100, 199, 1000, 65_535, 65_736] {
                await #expect(throws: FetchError.self, "\(status)") {
                    try await cache.insert(status: status, fields: fields, body: [], for: request)
                }
            }
            let longest = [UInt8](repeating: 7, count: 64 << 10)
            await #expect(throws: FetchError.self) {
                try await cache.insert(fields: fields, body: [], for: request, metadata: longest + [7])
            }
            #expect(try cache.response(to: request) == nil)
            try await cache.insert(status: 299, fields: fields, body: [1], for: request, metadata: longest)
            #expect(try cache.response(to: request)?.metadata == longest)
        }
    }

    /// What something that is asked of a cache or a jar fails with; nil when it does not.
    private func code(of call: () async throws -> Void) async -> FetchError.Code? {
        do {
            try await call()
            return nil
        } catch {
            return (error as? FetchError)?.code
        }
    }

    @Test("who has a client certificate finds nothing in a store that works, and removes what there is")
    func certificates() async throws {
        try await withScene(.inProcess) {
            page("served", to: $0)
        } _: { _, coordinator in
            let cache = try #require(coordinator.cache)
            let plain = Request("https://a.test/page")
            var owned = plain
            owned.options.tls.identity = ClientIdentity(file: "certificate")
            var ownedThere = plain
            ownedThere.options.tls.identities = ["a.test": ClientIdentity(file: "certificate")]
            for request in [owned, ownedThere] {
                try await cache.insert(fields: ["Cache-Control": "max-age=60"], body: [1], for: plain)
                #expect(try cache.response(to: plain) != nil)
                #expect(try cache.response(to: request) == nil)
                #expect(try cache.bodyFile(for: request) == nil)
                try await cache.remove(request)
                #expect(try cache.response(to: plain) == nil)
            }
        }
    }

    private static let unstorable: [@Sendable (inout RequestOptions) -> Void] = [
        { $0.tls.verification = .none }, { $0.tls.verification = .chainOnly }, { $0.tls.question = .always },
        { $0.tls.identity = ClientIdentity(file: "certificate") },
    ]

    @Test("what no fetch of a request would store is not stored by hand, which is not the store's fault")
    func refusesByOptions() async throws {
        try await withScene(.inProcess) {
            page("served", to: $0)
        } _: { _, coordinator in
            let cache = try #require(coordinator.cache)
            for (index, adjust) in Self.unstorable.enumerated() {
                var changed = Request("http://a.test/page")
                adjust(&changed.options)
                let request = changed
                let found = await code {
                    try await cache.insert(fields: ["Cache-Control": "max-age=60"], body: [1], for: request)
                }
                #expect(found == .badRequest, "\(index)")
            }
            #expect(try cache.usage().responses == 0)
        }
    }

    @Test("a cache may be named by a path from the working directory, also for what ends with the session")
    func relativePath() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            expectInChild(chdir(directory.path) == 0, "no working directory")
            var configuration = Configuration()
            configuration.workers = 0
            configuration.store = .none
            try await withCoordinator(configuration) { coordinator in
                let cache = coordinator.cache(at: "mine")
                var request = Request("http://a.test/")
                request.options.caching.storage = .session
                try await cache.insert(fields: ["Cache-Control": "max-age=60"], body: [1], for: request)
                let storage = try cache.response(to: request)?.storage
                expectInChild(storage == .session, "\(String(describing: storage))")
                // As a fetch finds it.
                request.options.caching.cache = .at("mine")
                request.options.caching.policy = .doNotLoad
                let source = try await coordinator.send(request).source
                expectInChild(source == .cache, source.rawValue)
                // No path is none, and not that directory.
                let pathless = coordinator.cache(at: "")
                let refused = #expect(throws: FetchError.self) { try pathless.usage() }
                expectInChild(refused?.code == .badRequest, "\(String(describing: refused))")
                let kept = await #expect(throws: FetchError.self) { try await pathless.removeAll() }
                expectInChild(kept?.code == .badRequest, "\(String(describing: kept))")
            }
            let names = try directory.names()
            expectInChild(names.contains("mine/cache") && !names.contains("cache"), "\(names)")
        }
    }

    @Test("once the coordinator is shut down, its caches and the jars of its store say so, whatever is asked")
    func afterShutdown() async throws {
        try await withScene(.inProcess) {
            page("served", to: $0)
        } _: { _, coordinator in
            let cache = try #require(coordinator.cache)
            let (cookies, unused) = (coordinator.cookies, coordinator.cache(at: "/nonexistent/store"))
            let request = Request("http://a.test/")
            let cookie = Cookie("a", "1", domain: "a.test")
            try await cookies.set(cookie)
            await coordinator.shutdown()
            func expectShutDown(_ name: String, _ call: () async throws -> Void) async {
                let found = await code(of: call)
                #expect(found == .shutDown, "\(name)")
            }
            await expectShutDown("response") { _ = try cache.response(to: request) }
            await expectShutDown("bodyFile") { _ = try cache.bodyFile(for: request) }
            await expectShutDown("usage") { _ = try cache.usage() }
            await expectShutDown("usage of another") { _ = try unused.usage() }
            await expectShutDown("insert") { try await cache.insert(fields: [:], body: [1], for: request) }
            await expectShutDown("remove") { try await cache.remove(request) }
            await expectShutDown("removeAll") { _ = try await cache.removeAll() }
            await expectShutDown("cookies") { _ = try cookies.cookies() }
            await expectShutDown("cookies for a URL") { _ = try cookies.cookies(for: "http://a.test/") }
            await expectShutDown("exportNetscape") { _ = try cookies.exportNetscape() }
            await expectShutDown("set") { try await cookies.set(cookie) }
            await expectShutDown("remove of a cookie") { _ = try await cookies.remove(cookie) }
            await expectShutDown("removeAll of cookies") { _ = try await cookies.removeAll() }
            await expectShutDown("removeAll since") { _ = try await cookies.removeAll(since: 0) }
            await expectShutDown("removeAcceptedInSession") { _ = try await cookies.removeAcceptedInSession() }
            await expectShutDown("importNetscape") { _ = try await cookies.importNetscape([]) }
        }
    }

    @Test("what wants to be validated each time is not fresh")
    func freshness() async throws {
        try await withScene {
            page("one", "max-age=60, no-cache", to: $0)
        } _: { scene, coordinator in
            let request = Request(scene.origin.url("/page"))
            _ = try await coordinator.send(request)
            let stored = try #require(try coordinator.cache?.response(to: request))
            #expect(!stored.isFresh && stored.lifetime == .seconds(60))
            #expect(try await coordinator.send(request).source == .revalidated)
        }
    }

    @Test("the store of all coordinators that name none can be replaced")
    func shared() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            expectInChild(Configuration().store == .userDefault, "\(Configuration().store)")
            let before = Configuration()
            Configuration.Store.shared = .directory(directory.file("mine"))
            expectInChild(Configuration.default.store == .directory(directory.file("mine")), "not replaced")
            expectInChild(before.store == .userDefault, "what was made before is as it was")
            var configuration = Configuration()
            configuration.workers = 0
            try await withCoordinator(configuration) { coordinator in
                expectInChild(coordinator.cache?.directory == directory.file("mine"), "another directory")
            }
        }
    }

    @Test("a coordinator that needs its store is not made without it (ASI-CACHE-01)")
    func required() async throws {
        let directory = try TemporaryDirectory()
        try directory.put("file", [1])
        var configuration = try testConfiguration(workers: 0)
        configuration.cache.isRequired = true
        configuration.store = .directory(directory.file("file"))
        do throws(FetchError) {
            let coordinator = try Coordinator(configuration)
            Issue.record("it was made")
            await coordinator.shutdown()
        } catch {
            #expect(error.code == .storeUnusable)
        }
        configuration.store = .directory(directory.file("store"))
        let coordinator = try Coordinator(configuration)
        await coordinator.shutdown()
    }

    @Test("a coordinator that cannot be made has no store open", arguments: [true, false])
    func notMade(lacksWorker: Bool) async throws {
        let directory = try TemporaryDirectory()
        var configuration = try testConfiguration(workers: 1)
        configuration.cache.isRequired = true
        configuration.store = .directory(directory.file("store"))
        if lacksWorker {
            configuration.workerExecutable = directory.file("missing")
        } else {
            configuration.statusSocket = .path(directory.file("missing/socket"))
        }
        do throws(FetchError) {
            let coordinator = try Coordinator(configuration)
            Issue.record("it was made")
            await coordinator.shutdown()
        } catch {
            let expected: FetchError.Code = lacksWorker ? .engineDown : .file
            #expect(error.code == expected)
        }
        #expect(!ProcessTree.descriptors().contains { $0.contains(directory.path) })
    }

    @Test("any number of caches can be used one after the other", arguments: Engine.allCases)
    func caches(engine: Engine) async throws {
        try await withScene(engine, workers: engine == .workers ? 1 : 0) {
            page("one", to: $0)
        } _: { scene, coordinator in
            let descriptors = ProcessTree.descriptorCount()
            for round in ["network", "cache"] {
                for number in 0..<40 {
                    let response = try await coordinator.get(scene.origin.url("/page")) {
                        $0.caching.cache = .at(scene.directory.file("cache\(number)"))
                    }
                    #expect(summary(response) == "\(round) 200 one", "\(number)")
                }
            }
            // Other tests run beside this one: what counts is that it is not 40 times what a store takes.
            #expect(ProcessTree.descriptorCount() - descriptors < 250)
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

    @Test("the time it takes to say how a response is stored is not the fetch's", arguments: Engine.allCases)
    func slowDecision(engine: Engine) async throws {
        try await withScene(engine, adjust: { $0.decisions = Slow() }) {
            page("one", to: $0)
        } _: { scene, coordinator in
            var request = Request(scene.origin.url("/page"))
            request.options.timeLimits.exchange = .seconds(4)
            let response = try await coordinator.send(request)
            #expect(response.bodyText == "one")
        }
    }

    /// Takes longer to decide than an exchange may take, and than the coordinator gives its worker beyond that.
    private struct Slow: FetchDecisions {
        func storing(
            _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
        ) async -> StoringChoice? {
            try? await Task.sleep(for: .seconds(6))
            return proposal
        }
    }

    @Test("who wants no network is served what is stale, also where its fetch has a decider of its own")
    func ownDeciderWithoutNetwork() async throws {
        try await withScene {
            page("one", "max-age=0, stale-while-revalidate=60", to: $0)
        } _: { scene, coordinator in
            var request = Request(scene.origin.url("/page"))
            _ = try await coordinator.send(request)
            request.fields["Cache-Control"] = "only-if-cached"
            let answer = try await coordinator.start(request, decisions: Choosy()).response
            #expect(summary(answer) == "stale 200 one" && scene.count == 1)
        }
    }

    @Test(
        "a program decides about what a validation brings that nobody waits for, and its fetch's own before it is served",
        arguments: [false, true])
    func decidesBehind(isOwn: Bool) async throws {
        try await withScene(adjust: { if !isOwn { $0.decisions = Choosy() } }) { request in
            let control = request.number == 1 ? "max-age=0, stale-while-revalidate=60" : "max-age=60"
            return page(request.number == 1 ? "one" : "two", control, to: request)
        } _: { scene, coordinator in
            let cache = try #require(coordinator.cache)
            let request = Request(scene.origin.url("/session"))
            func send() async throws -> Response {
                try await coordinator.start(request, decisions: isOwn ? Choosy() : nil).response
            }
            _ = try await send()
            let second = try await send()
            #expect(summary(second) == (isOwn ? "network 200 two" : "stale 200 one"))
            #expect(try await eventually { try await summary(send()) == "cache 200 two" })
            #expect(try cache.response(to: request)?.storage == .session)
            let permanent = try await cache.removeAll(storage: .permanent)
            let ofSession = try await cache.removeAll(storage: .session)
            #expect(permanent == 0 && ofSession == 1)
            #expect(scene.count == 2)
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
