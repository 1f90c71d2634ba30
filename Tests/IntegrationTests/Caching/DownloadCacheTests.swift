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
            case "/slow", "/slower":
                usleep(600_000)
                return request.target == "/slow"
                    ? ScriptedOrigin.Answer(302, "", [("Location", "/slower")]) : page("late", to: request)
            default: return page("there", to: request)
            }
        } _: { scene, coordinator in
            let first = try await coordinator.get(scene.origin.url("/a"))
            #expect(summary(first) == "network 200 there")
            #expect(first.metrics.map(\.status) == [301, 200] && first.redirects.count == 1)
            let second = try await coordinator.get(scene.origin.url("/a"))
            #expect(summary(second) == "cache 200 there")
            #expect(second.redirects.count == 1 && second.originalURL == scene.origin.url("/a"))
            await failure(.timeout) {
                try await coordinator.get(scene.origin.url("/slow")) { $0.timeLimits.resource = .seconds(1) }
            }
            await failure(.timeout) {
                try await coordinator.get(scene.origin.url("/slow")) { $0.timeLimits.exchange = .seconds(1) }
            }
        }
    }

    @Test(
        "the time of an exchange begins when its turn has come, with such a cache and without",
        arguments: [true, false])
    func turns(ownCache: Bool) async throws {
        let held = Occasion()
        try await withScene(
            .inProcess,
            adjust: {
                $0.connectionsPerHost = 1
                if ownCache { $0.downloadCache = MemoryCache() }
            }
        ) { request in
            if request.target == "/held" { held.wait() }
            return page("there", to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            let first = Task { try await coordinator.get(scene.origin.url("/held")) }
            let isHeld = await eventually { scene.count == 1 }
            #expect(isHeld)
            let second = Task {
                try await coordinator.get(scene.origin.url("/next")) { $0.timeLimits.exchange = .seconds(2) }
            }
            // Longer than that.
            try await Task.sleep(for: .seconds(2.5))
            held.open()
            let texts = try await [first.value.bodyText, second.value.bodyText]
            #expect(texts == ["there", "there"])
        }
    }

    @Test("no clock runs while the program decides, with such a cache and without", arguments: [true, false])
    func clocks(ownCache: Bool) async throws {
        let decisions = Hesitant()
        try await withScene(
            adjust: {
                if ownCache { $0.downloadCache = MemoryCache() }
                $0.decisions = decisions
            }
        ) { request in
            switch request.target {
            case "/a": ScriptedOrigin.Answer(301, "", [("Location", "/b"), ("Cache-Control", "max-age=60")])
            case "/c": page("there", to: request)
            case _ where request.fields["authorization"] == ChallengingOrigin.basic("me", "pass"):
                ScriptedOrigin.Answer(302, "", [("Location", "/c")])
            default: ChallengingOrigin.challenge()
            }
        } _: { scene, coordinator in
            let response = try await coordinator.get(scene.origin.url("/a")) {
                $0.authentication.allowsClearText = true
                $0.timeLimits.resource = .seconds(2)
                $0.timeLimits.exchange = .seconds(2)
            }
            #expect(response.bodyText == "there" && response.redirects.count == 2)
            let asked = decisions.asked.withLock { $0.sorted() }
            #expect(asked == ["credentials", "redirect", "storing"])
        }
    }

    @Test("who waits for the time that a redirect names can be cancelled, and ends with the coordinator")
    func waits() async throws {
        try await withScene(.inProcess, adjust: { $0.downloadCache = MemoryCache() }) { _ in
            ScriptedOrigin.Answer(302, "", [("Location", "/there"), ("Retry-After", "60")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/a")
            func isWaiting(_ count: Int) async -> Bool {
                await eventually {
                    let status = await coordinator.status()
                    return scene.count == count && status?.waiting == 1
                }
            }
            let cancelled = Task { await failure(.cancelled) { try await coordinator.get(url) } }
            let waitsFirst = await isWaiting(1)
            #expect(waitsFirst)
            cancelled.cancel()
            _ = await cancelled.value
            let ended = Task { await failure(.shutDown) { try await coordinator.get(url) } }
            let waitsAgain = await isWaiting(2)
            #expect(waitsAgain)
            await coordinator.shutdown(grace: .zero)
            _ = await ended.value
            #expect(scene.targets == ["/a", "/a"])
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

    /// Takes longer for the first answer of each kind than a fetch may take in all.
    private struct Hesitant: FetchDecisions {
        let asked = Locked(Set<String>())

        private func hesitate(about kind: String) async {
            let isFirst = asked.withLock { $0.insert(kind).inserted }
            if isFirst { try? await Task.sleep(for: .seconds(2.2)) }
        }

        func storing(
            _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
        ) async -> StoringChoice? {
            await hesitate(about: "storing")
            return proposal
        }

        func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
            await hesitate(about: "redirect")
            return .follow
        }

        func credentials(for challenge: AuthenticationChallenge) async -> CredentialDecision {
            await hesitate(about: "credentials")
            return .use(Credential(user: "me", password: "pass"))
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

/// What a program would write: entries in a dictionary.
final class MemoryCache: DownloadCache {
    /// What goes wrong.
    enum Fault: CaseIterable {
        /// Nothing is ever found.
        case forgets
        /// Records come back cut, changed or empty.
        case cuts
        case garbles
        case empties
        /// Bodies come back shorter.
        case shortens
        /// Entries of other URLs come back.
        case confuses
    }

    private struct State {
        var entries: [String: [DownloadCacheEntry]] = [:]
        var calls = 0
    }

    let secret: [UInt8]?
    private let fault: Fault?
    private let state = Locked(State())

    init(secret: [UInt8]? = nil, fault: Fault? = nil) {
        self.secret = secret
        self.fault = fault
    }

    var count: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.count } } }
    var urls: [String] {
        state.withLock { state in state.entries.keys.filter { state.entries[$0]?.isEmpty == false }.sorted() }
    }
    var calls: Int { state.withLock { $0.calls } }
    func entries(under url: String) -> [DownloadCacheEntry] { state.withLock { $0.entries[url] ?? [] } }

    func entries(for url: String) async -> [DownloadCacheEntry] {
        let (mine, others) = state.withLock { state in
            state.calls += 1
            return (state.entries[url] ?? [], state.entries.filter { $0.key != url }.values.flatMap(\.self))
        }
        switch fault {
        case nil: return mine
        case .forgets: return []
        case .cuts: return mine.map { $0.with(record: Array($0.record.dropLast($0.record.count / 2))) }
        case .garbles: return mine.map { $0.with(record: $0.record.map { ~$0 }) }
        case .empties: return mine.map { $0.with(record: []) }
        case .shortens: return mine.map { $0.with(body: Array($0.body.dropLast())) }
        case .confuses: return others
        }
    }

    func store(_ entry: DownloadCacheEntry, replacing: [DownloadCacheEntry.ID]) async {
        state.withLock { state in
            state.calls += 1
            state.entries[entry.url, default: []].removeAll { replacing.contains($0.id) }
            state.entries[entry.url, default: []].append(entry)
        }
    }

    func update(_ entry: DownloadCacheEntry) async {
        state.withLock { state in
            state.calls += 1
            guard let index = state.entries[entry.url]?.firstIndex(where: { $0.id == entry.id }) else { return }
            state.entries[entry.url]?[index] = entry
        }
    }

    func remove(_ entries: [DownloadCacheEntry.ID], for url: String) async {
        state.withLock { state in
            state.calls += 1
            state.entries[url]?.removeAll { entries.contains($0.id) }
        }
    }

    func removeEntries(for url: String) async {
        state.withLock { state in
            state.calls += 1
            state.entries[url] = nil
        }
    }

    func removeEntries(where isMeant: @Sendable (String) -> Bool) async {
        state.withLock { state in
            state.calls += 1
            for url in state.entries.keys where isMeant(url) { state.entries[url] = nil }
        }
    }

    func removeEntries(kept storage: RequestOptions.Caching.Storage) async {
        state.withLock { state in
            state.calls += 1
            for url in state.entries.keys { state.entries[url]?.removeAll { $0.storage == storage } }
        }
    }
}

extension DownloadCacheEntry {
    /// What a program could make of it: entries are written and read as JSON, say.
    fileprivate func with(record: [UInt8]? = nil, body: [UInt8]? = nil) -> DownloadCacheEntry {
        var parts = (try? JSONSerialization.jsonObject(with: JSONEncoder().encode(self))) as? [String: Any] ?? [:]
        if let record { parts["record"] = record.map { Int($0) } }
        if let body { parts["body"] = body.map { Int($0) } }
        let data = (try? JSONSerialization.data(withJSONObject: parts)) ?? Data()
        return (try? JSONDecoder().decode(DownloadCacheEntry.self, from: data)) ?? self
    }
}
