import Foundation
import Glibc
import Testing
import Trawl

/// ASI-CACHE-26.
@Suite("A cache of the program's own, ASI-CACHE-26", .timeLimit(.minutes(3)))
struct DownloadCacheTests {
    @Test("keeps what comes, answers with it, is validated and gives way to what is new", arguments: Engine.allCases)
    func whole(engine: Engine) async throws {
        let cache = MemoryCache()
        try await withScene(engine, adjust: { $0.downloadCache = cache }) { request in
            if request.target != "/page" { return page("long", to: request) }
            return page(request.number < 3 ? "one" : "two", "max-age=0", to: request)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            #expect(summary(try await coordinator.get(url)) == "network 200 one")
            let first = try #require(cache.entries(under: url).first)
            #expect(summary(try await coordinator.get(url)) == "revalidated 200 one")
            #expect(cache.entries(under: url).map(\.id) == [first.id], "validated, not stored anew")
            #expect(cache.entries(under: url).map(\.body) == [Array("one".utf8)])
            #expect(summary(try await coordinator.get(url)) == "network 200 two")
            #expect(cache.entries(under: url).map(\.body) == [Array("two".utf8)])
            #expect(scene.origin.seen("/page").map { $0.fields["if-none-match"] } == [nil, "\"one\"", "\"one\""])
            for source in ["network", "cache", "cache"] {
                let response = try await coordinator.get(scene.origin.url("/long"))
                #expect(summary(response) == "\(source) 200 long")
            }
            #expect(scene.origin.seen("/long").count == 1)
            #expect(coordinator.cacheProblem == nil)
            #expect(!FileManager.default.fileExists(atPath: scene.store + "/cache"), "the store has no part in it")
            await cache.removeAll()
            #expect(try await coordinator.get(scene.origin.url("/long")).source == .network)
        }
    }

    @Test("serves no other fetches than those of `send` into memory", arguments: Engine.allCases)
    func others(engine: Engine) async throws {
        let cache = MemoryCache()
        try await withScene(engine, adjust: { $0.downloadCache = cache }) {
            page("v\($0.number)", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            #expect(summary(try await coordinator.get(url)) == "network 200 v1")
            let calls = cache.calls
            let started = try await coordinator.start(Request(url)).response
            #expect(summary(started) == "network 200 v2")
            let queue = FetchQueue(on: coordinator)
            queue.resume()
            let queued = try await queue.add(Request(url)).response
            #expect(summary(queued) == "network 200 v3")
            #expect(cache.calls == calls)
            #expect(summary(try await coordinator.get(url)) == "cache 200 v1")
        }
    }

    @Test("is used as policies say")
    func policies() async throws {
        let cache = MemoryCache()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) {
            page("v\($0.number)", $0.target == "/stale" ? "max-age=0" : "max-age=60", to: $0)
        } _: { scene, coordinator in
            let (url, stale) = (scene.origin.url("/page"), scene.origin.url("/stale"))
            #expect(summary(try await coordinator.get(url, .doNotLoad)) == "generated 504 ")
            await failure(.notCached) {
                try await coordinator.get(url, .doNotLoad) { $0.caching.failsWhenNotCached = true }
            }
            #expect(summary(try await coordinator.get(url, .doNotWrite)) == "network 200 v1")
            #expect(cache.count == 0)
            #expect(summary(try await coordinator.get(url)) == "network 200 v2")
            #expect(summary(try await coordinator.get(url, .doNotRead)) == "network 200 v3")
            #expect(cache.count == 1, "what is loaded anew takes the place of what was there")
            #expect(summary(try await coordinator.get(url, .askServerIfModified)) == "network 200 v4")
            #expect(summary(try await coordinator.get(url)) == "cache 200 v4")
            _ = try await coordinator.get(stale)
            #expect(summary(try await coordinator.get(stale, .onlyLoadIfNotCached)) == "stale 200 v1")
            #expect(try await coordinator.get(url) { $0.caching.cache = .none }.source == .network)
            #expect(try await coordinator.get(url, into: .discard).source == .network)
            let range = try await coordinator.get(url, fields: ["Range": "bytes=1-1"])
            #expect(summary(range) == "cache 206 4")
        }
        let count = cache.calls
        try await withScene(
            .inProcess,
            adjust: {
                $0.downloadCache = cache
                $0.cache.isOn = false
            }
        ) {
            page("one", to: $0)
        } _: { scene, coordinator in
            let response = try await coordinator.get(scene.origin.url("/page"))
            #expect(response.source == .network)
        }
        #expect(cache.calls == count)
    }

    @Test("stands in for a server that cannot be reached, and for nothing else")
    func outage() async throws {
        let cache = MemoryCache()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) { request in
            switch request.number {
            case 2: ScriptedOrigin.Answer(200, String(repeating: "x", count: 5000), [("ETag", "\"new\"")])
            case 3: ScriptedOrigin.Answer(503, "no")
            default: page("one", "max-age=0, stale-if-error=60", to: request)
            }
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            await failure(.tooLarge) { try await coordinator.get(url) { $0.sizeLimits.bodyBytes = 100 } }
            #expect(summary(try await coordinator.get(url)) == "stale 200 one")
            scene.origin.stop()
            #expect(summary(try await coordinator.get(url)) == "stale 200 one")
            await failure(.cannotConnect) { try await coordinator.get(scene.origin.url("/other")) }
        }
    }

    @Test("loses what an answer makes invalid")
    func invalidation() async throws {
        let cache = MemoryCache()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) { request in
            switch request.method {
            case "POST":
                ScriptedOrigin.Answer(
                    201, "", [("Location", "/new"), ("Content-Location", "http://elsewhere.test/page")])
            case "HEAD": ScriptedOrigin.Answer(request.target == "/page" ? 404 : 200, "")
            default: page("one", to: request)
            }
        } _: { scene, coordinator in
            let urls = ["/page", "/new", "/other"].map { scene.origin.url($0) }
            for url in urls { _ = try await coordinator.get(url) }
            _ = try await coordinator.send(Request(.post, urls[0], body: .text("x")))
            #expect(cache.urls == [urls[2]], "its own URL and the place it names")
            _ = try await coordinator.get(urls[0])
            _ = try await coordinator.send(Request(.head, urls[2]))
            #expect(try await coordinator.send(Request(.head, urls[0])).source == .cache)
            var request = Request(.head, urls[0])
            request.cachePolicy = .askServerIfModified
            #expect(try await coordinator.send(request).status == 404)
            #expect(cache.urls == [urls[2]], "HEAD says that it is gone")
        }
    }

    @Test("never gets what must not be stored")
    func unstored() async throws {
        let cache = MemoryCache()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) { request in
            let control = request.target == "/secret" ? "no-store" : "max-age=60"
            guard request.fields["range"] != nil else { return page("one", control, to: request) }
            return ScriptedOrigin.Answer(
                206, "o", [("Content-Range", "bytes 0-0/3"), ("ETag", "\"one\""), ("Cache-Control", control)])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(scene.origin.url("/secret"))
            _ = try await coordinator.get(url, fields: ["Cache-Control": "no-store"])
            // What comes unverified answers nobody who verifies.
            _ = try await coordinator.get(url) { $0.tls.verification = .none }
            _ = try await coordinator.get(url) { $0.tls.verification = .chainOnly }
            _ = try await coordinator.get(url, fields: ["Range": "bytes=0-0"])
            #expect(cache.count == 0)
            // Nor is the owner of a certificate anybody.
            let calls = cache.calls
            _ = try await coordinator.get(url) { $0.tls.identity = ClientIdentity(file: "/nowhere.pem") }
            #expect(cache.calls == calls)
            _ = try await coordinator.get(url)
            #expect(cache.count == 1)
            #expect(
                try await coordinator.get(url) { $0.tls.identity = ClientIdentity(file: "/nowhere.pem") }.source
                    == .network)
        }
    }

    @Test("knows credentials again, when it has a secret, and tells nobody's to another")
    func credentials() async throws {
        for secret in [nil, [UInt8](repeating: 9, count: 32)] {
            let cache = MemoryCache(secret: secret)
            try await withScene {
                page(["Basic QTpB": "A", "Basic QjpC": "B"][$0.fields["authorization"] ?? ""] ?? "nobody", to: $0)
            } _: { scene in
                let url = scene.origin.url("/page")
                for round in 0..<2 {
                    try await scene.withCoordinator(.inProcess, adjust: { $0.downloadCache = cache }) { coordinator in
                        for (name, text) in [("Basic QTpB", "A"), ("Basic QjpC", "B")] {
                            let response = try await coordinator.get(url, fields: ["Authorization": name])
                            #expect(response.bodyText == text)
                            #expect(response.source == (round == 1 && secret != nil ? .cache : .network))
                            #expect(try await coordinator.get(url, fields: ["Authorization": name]).source == .cache)
                        }
                        #expect(try await coordinator.get(url).bodyText == "nobody")
                    }
                }
                #expect(cache.count == (secret == nil ? 5 : 3))
                let bytes = cache.entries(under: url).flatMap(\.record)
                #expect(bytes.firstRange(of: Array("QTpB".utf8)) == nil)
            }
        }
    }

    @Test("keeps variants apart")
    func variants() async throws {
        let cache = MemoryCache()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) {
            page($0.fields["accept-language"] ?? "", "max-age=60", to: $0, [("Vary", "Accept-Language")])
        } _: { scene, coordinator in
            for source in [Response.Source.network, .cache] {
                for language in ["de", "fr"] {
                    let response = try await coordinator.get(
                        scene.origin.url("/page"), fields: ["Accept-Language": language])
                    #expect(response.bodyText == language && response.source == source)
                }
            }
            #expect(cache.count == 2)
        }
    }

    @Test("may fail in any way, which costs no more than the cache")
    func failing() async throws {
        for fault in MemoryCache.Fault.allCases {
            let cache = MemoryCache(fault: fault)
            try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) {
                page("\($0.target) one", to: $0)
            } _: { scene, coordinator in
                for _ in 0..<3 {
                    for target in ["/a", "/b"] {
                        let response = try await coordinator.get(scene.origin.url(target))
                        #expect(response.bodyText == target + " one", "\(fault)")
                        #expect(response.source == .network, "\(fault)")
                    }
                }
            }
        }
    }

    @Test("a program decides what goes into it, with data of its own, and how long it stays")
    func decisions() async throws {
        let cache = MemoryCache()
        try await withScene(
            .inProcess,
            adjust: {
                $0.downloadCache = cache
                $0.decisions = Choosy()
                $0.cache.storage = .session
            }
        ) {
            page("one", to: $0)
        } _: { scene, coordinator in
            for target in ["/secret", "/marked", "/long"] { _ = try await coordinator.get(scene.origin.url(target)) }
            #expect(cache.urls == [scene.origin.url("/marked")])
            let entry = try #require(cache.entries(under: scene.origin.url("/marked")).first)
            #expect(entry.metadata == [7] && entry.storage == .session)
            _ = try await coordinator.get(scene.origin.url("/marked"), .askServerIfModified)
            #expect(cache.entries(under: entry.url).map(\.metadata) == [[7]])
            #expect(coordinator.cacheProblem == nil)
            #expect(!FileManager.default.fileExists(atPath: scene.store + "/cache"))
        }
    }

    @Test(
        "a fetch that is cancelled while the program decides is cancelled, and not out of time",
        arguments: ["/moved", "/page"])
    func cancelled(target: String) async throws {
        let decisions = Silent()
        try await withScene(
            .inProcess,
            adjust: {
                $0.downloadCache = MemoryCache()
                $0.decisions = decisions
            }
        ) {
            $0.target == "/moved" ? ScriptedOrigin.Answer(302, "", [("Location", "/page")]) : page("one", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url(target)
            let fetching = Task { await failure(.cancelled) { try await coordinator.get(url) } }
            let isAsked = await eventually { decisions.asked.withLock { $0 } == 1 }
            #expect(isAsked)
            fetching.cancel()
            let error = await fetching.value
            #expect(error?.url == url && error?.urlErrorCode == -999 && error?.legacyCode == 4)
        }
    }

    @Test("what is stale is served from it at once and validated once, with nobody waiting")
    func background() async throws {
        let cache = MemoryCache()
        let held = Occasion()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) { request in
            if request.number == 2 { held.wait() }
            let control = request.number == 1 ? "max-age=0, stale-while-revalidate=60" : "max-age=60"
            return page(request.number == 1 ? "one" : "two", control, to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            #expect(summary(try await coordinator.get(url, .doNotWrite)) == "stale 200 one")
            for _ in 0..<20 { #expect(summary(try await coordinator.get(url)) == "stale 200 one") }
            held.open()
            #expect(try await eventually { try await summary(coordinator.get(url)) == "cache 200 two" })
            #expect(scene.count == 2, "\(scene.count) requests")
        }
    }

    @Test(
        "what is validated with nobody waiting is all that is stored, whatever its caller has or wants",
        arguments: [("Range", "bytes=0-0"), ("Cache-Control", "only-if-cached")])
    func validation(name: String, value: String) async throws {
        let cache = MemoryCache()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) { request in
            let control = request.number == 1 ? "max-age=0, stale-while-revalidate=60" : "max-age=60"
            return page(request.number == 1 ? "one" : "two", control, to: request)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            #expect(try await coordinator.get(url, fields: [name: value]).source == .stale)
            #expect(try await eventually { try await summary(coordinator.get(url)) == "cache 200 two" })
            let asked = try #require(scene.origin.seen().dropFirst().first)
            #expect(asked.fields["range"] == nil && asked.fields["if-none-match"] == "\"one\"")
            #expect(scene.count == 2)
        }
    }

    @Test("redirects are followed through it, with what every hop took, in the time of one fetch (ASI-RUN-05)")
    func redirects() async throws {
        let cache = MemoryCache()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) { request in
            switch request.target {
            case "/a": return ScriptedOrigin.Answer(301, "", [("Location", "/b"), ("Cache-Control", "max-age=60")])
            // Each of the two takes less than the limits below, and both together take much more.
            case "/slow/1", "/slow/2":
                usleep(2_700_000)
                return ScriptedOrigin.Answer(302, "", [("Location", "/slower\(request.target.suffix(2))")])
            case "/slower/1", "/slower/2":
                usleep(2_700_000)
                return page("late", to: request)
            default: return page("there", to: request)
            }
        } _: { scene, coordinator in
            let first = try await coordinator.get(scene.origin.url("/a"))
            #expect(summary(first) == "network 200 there")
            #expect(first.metrics.map(\.status) == [301, 200] && first.redirects.count == 1)
            let second = try await coordinator.get(scene.origin.url("/a"))
            #expect(summary(second) == "cache 200 there")
            #expect(second.redirects.count == 1 && second.originalURL == scene.origin.url("/a"))
            let urls = ["/slow/1", "/slow/2"].map { scene.origin.url($0) }
            let other = Task {
                await failure(.timeout) {
                    try await coordinator.get(urls[0]) { $0.timeLimits.resource = .seconds(3) }
                }
            }
            await failure(.timeout) {
                try await coordinator.get(urls[1]) { $0.timeLimits.exchange = .seconds(3) }
            }
            _ = await other.value
        }
    }

    @Test("a redirect within its origin is followed as whom the URL names")
    func user() async throws {
        try await withScene(.inProcess, adjust: { $0.downloadCache = MemoryCache() }) { request in
            guard request.fields["authorization"] == ChallengingOrigin.basic("me", "pass") else {
                return ChallengingOrigin.challenge()
            }
            return request.target == "/a"
                ? ScriptedOrigin.Answer(302, "", [("Location", "/b")]) : ScriptedOrigin.Answer(200, "in")
        } _: { scene, coordinator in
            let url = scene.origin.url("/a").replacingOccurrences(of: "//", with: "//me:pass@")
            for (schemes, statuses) in [
                (RequestOptions.Authentication.Schemes.any, [401, 302, 401, 200]), (.basic, [302, 200]),
            ] {
                let response = try await coordinator.get(url) {
                    $0.authentication.schemes = schemes
                    $0.authentication.allowsClearText = true
                    $0.authentication.usesSession = false
                }
                #expect(response.bodyText == "in" && response.authentication?.source == .url)
                #expect(response.metrics.map(\.status) == statuses)
                #expect(!response.url.contains("@") && response.redirects.allSatisfy { !$0.url.contains("@") })
            }
        }
    }

    @Test("attempts that failed are counted, over all hops")
    func attempts() async throws {
        let cache = MemoryCache()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) { request in
            if request.number == 1 { return ScriptedOrigin.Answer(503, "later") }
            if request.target == "/b" { return page("there", to: request) }
            return ScriptedOrigin.Answer(302, "", [("Location", "/b")])
        } _: { scene, coordinator in
            for expected in [2, 0] {
                let response = try await coordinator.get(scene.origin.url("/a")) {
                    $0.retry = RequestOptions.Retry(1)
                    $0.retry.delay = .milliseconds(20)
                }
                #expect(response.bodyText == "there" && response.retryCount == expected)
                #expect(response.source == (expected == 0 ? .cache : .network))
            }
            #expect(scene.targets == ["/a", "/a", "/b", "/b", "/a"])
        }
    }

    /// Says nothing before the asking task is cancelled.
    private struct Silent: FetchDecisions {
        let asked = Locked(0)

        private func wait() async {
            asked.withLock { $0 += 1 }
            try? await Task.sleep(for: .seconds(60))
        }

        func storing(
            _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
        ) async -> StoringChoice? {
            await wait()
            return proposal
        }

        func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
            await wait()
            return .follow
        }
    }

    /// Stores nothing secret.
    private struct Choosy: FetchDecisions {
        func storing(
            _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
        ) async -> StoringChoice? {
            if url.hasSuffix("/secret") { return nil }
            var choice = proposal
            choice.metadata = [UInt8](repeating: 7, count: url.hasSuffix("/long") ? 65_537 : 1)
            return choice
        }
    }
}
