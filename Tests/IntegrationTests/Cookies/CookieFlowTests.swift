import Foundation
import Testing
import Trawl

/// A program that sends what a redirect proposes as a request of its own.
private struct Sending: FetchDecisions {
    func redirect(_ proposal: RedirectProposal) async -> RedirectChoice { .send(proposal.request) }
}

/// ASI-COOK-01, ASI-COOK-02, ASI-COOK-08, ASI-COOK-10, ASI-RED-07, POOL-12.
@Suite("Cookies on their way, ASI-COOK-01, 02, 06, 08, 10, ASI-RED-07", .timeLimit(.minutes(3)))
struct CookieFlowTests {
    /// Sets what the query says, leads where `/go` says, and tells the cookies it got.
    @Sendable
    private static func answer(_ request: ScriptedOrigin.Seen) -> ScriptedOrigin.Answer {
        let parts = request.target.split(separator: "?", maxSplits: 1)
        let query = parts.count > 1 ? parts[1].split(separator: "&").map { String($0) } : []
        let fields = query.filter { !$0.hasPrefix("to=") }.map {
            ("Set-Cookie", $0.removingPercentEncoding ?? $0)
        }
        if let to = query.first(where: { $0.hasPrefix("to=") }) {
            return ScriptedOrigin.Answer(302, "", fields + [("Location", String(to.dropFirst(3)))])
        }
        return ScriptedOrigin.Answer(200, request.fields["cookie"] ?? "none", fields)
    }

    @Test("what a response sets goes along with the next request, whichever worker has it", arguments: Engine.allCases)
    func stored(engine: Engine) async throws {
        try await withScene(engine, answering: Self.answer) { scene, coordinator in
            let first = try await coordinator.get(scene.origin.url("/?a=1"))
            #expect(first.bodyText == "none")
            for _ in 0..<8 {
                #expect(try await coordinator.get(scene.origin.url("/")).bodyText == "a=1")
            }
            #expect(try await coordinator.get(scene.origin.url("/?a=2&b=3")).bodyText == "a=1")
            #expect(try await coordinator.get(scene.origin.url("/p/q")).bodyText == "a=2; b=3")
        }
    }

    @Test("where nobody can count changes, the jar is looked up each time", arguments: Engine.allCases)
    func uncounted(engine: Engine) async throws {
        try await withScene(answering: Self.answer) { scene in
            // In the place of the file that counts.
            _ = try scene.directory.makeDirectory("store/state/changes")
            try await scene.withCoordinator(engine) { coordinator in
                let text1 = try await coordinator.get(scene.origin.url("/?a=1")).bodyText
                #expect(text1 == "none")
                let text2 = try await coordinator.get(scene.origin.url("/?a=2")).bodyText
                #expect(text2 == "a=1")
                let text3 = try await coordinator.get(scene.origin.url("/")).bodyText
                #expect(text3 == "a=2")
            }
        }
    }

    @Test("a cookie without a path is for that of its request, parameters and all", arguments: Engine.allCases)
    func parameters(engine: Engine) async throws {
        try await withScene(engine, answering: Self.answer) { scene, coordinator in
            _ = try await coordinator.get(scene.origin.url("/shop;lang=en/item?a=1"))
            for (path, sent) in [("/shop;lang=en/other", "a=1"), ("/shop;lang=de/item", "none"), ("/shop/x", "none")] {
                #expect(try await coordinator.get(scene.origin.url(path)).bodyText == sent)
            }
        }
    }

    @Test(
        "a secure cookie of this machine comes back to it where an exception keeps the proxy out",
        arguments: Engine.allCases)
    func exceptions(engine: Engine) async throws {
        let free = ClosedPort.number
        try await withScene(engine, answering: Self.answer) { scene, coordinator in
            for jar in [RequestOptions.Cookies.Jar.shared, .memory("m")] {
                var request = Request(scene.origin.url("/?a=1%3bSecure"))
                request.options.proxy = ProxyPolicy(try Proxy("127.0.0.1:\(free)"), exceptions: ["127.0.0.1"])
                request.options.cookies.jar = jar
                _ = try await coordinator.send(request)
                request.url = scene.origin.url("/")
                let response = try await coordinator.send(request)
                #expect(response.bodyText == "a=1")
            }
        }
    }

    @Test(
        "a secure cookie of this machine comes back to it where a script says that there is no proxy, and goes to none")
    func scripts() async throws {
        let proxy = try ChallengingProxy { ChallengingProxy.lets($0) }
        defer { proxy.stop() }
        try await withScene(answering: Self.answer) { scene, coordinator in
            let direct = ["DIRECT", "PROXY 127.0.0.1:\(ClosedPort.number); DIRECT"]
            for (number, ways) in (direct + ["PROXY \(proxy.place)"]).enumerated() {
                let script = "function FindProxyForURL() { return '\(ways)'; }"
                try scene.directory.put("\(number).pac", Array(script.utf8))
            }
            func get(_ target: String, by script: Int, _ jar: RequestOptions.Cookies.Jar) async throws -> String {
                try await coordinator.get(scene.origin.url(target)) {
                    $0.proxy = ProxyPolicy(script: scene.directory.file("\(script).pac"))
                    $0.cookies.jar = jar
                }.bodyText
            }
            for script in direct.indices {
                for jar in [RequestOptions.Cookies.Jar.named("\(script)"), .memory("\(script)")] {
                    _ = try await get("/?a=1%3bSecure", by: script, jar)
                    for _ in 0..<2 {
                        let sent = try await get("/", by: script, jar)
                        #expect(sent == "a=1", "\(jar)")
                    }
                    let answer = try await get("/", by: direct.count, jar)
                    #expect(answer == "there")
                }
            }
            let told = proxy.seen().map { $0.fields["cookie"] }
            #expect(told.count == 4 && told.allSatisfy { $0 == nil }, "\(told)")
        }
    }

    @Test("SameSite=None without Secure is not stored, in the store or in memory", arguments: Engine.allCases)
    func sameSiteNone(engine: Engine) async throws {
        try await withScene(engine, answering: Self.answer) { scene, coordinator in
            for jar in [RequestOptions.Cookies.Jar.shared, .memory("m")] {
                // This machine is secure enough for Secure.
                let lines = "/?a=1%3bSameSite=None&b=2%3bSameSite=None%3bSecure&c=3%3bSameSite=Lax"
                _ = try await coordinator.get(scene.origin.url(lines)) { $0.cookies.jar = jar }
                let response = try await coordinator.get(scene.origin.url("/")) { $0.cookies.jar = jar }
                #expect(response.bodyText == "b=2; c=3")
                #expect(try coordinator.cookies(in: jar).cookies().map(\.sameSite) == [.none, .lax])
            }
        }
    }

    @Test("another coordinator sees it, and the next one what has a time", arguments: Engine.allCases)
    func shared(engine: Engine) async throws {
        try await withScene(answering: Self.answer) { scene in
            try await scene.withCoordinator(engine) { one in
                try await scene.withCoordinator(engine) { other in
                    _ = try await one.get(scene.origin.url("/?a=1&b=2%3bMax-Age=600"))
                    #expect(try await other.get(scene.origin.url("/")).bodyText == "a=1; b=2")
                    _ = try await other.get(scene.origin.url("/?c=3"))
                    #expect(try await one.get(scene.origin.url("/")).bodyText == "a=1; b=2; c=3")
                }
                // What ended with the other is gone, what ends with this one is not.
                #expect(try await one.get(scene.origin.url("/")).bodyText == "a=1; b=2")
            }
            try await scene.withCoordinator(engine) {
                let response = try await $0.get(scene.origin.url("/"))
                #expect(response.bodyText == "b=2")
            }
            try await scene.withCoordinator(engine) {
                $0.cookies.endsSessionCookies = false
            } _: {
                _ = try await $0.get(scene.origin.url("/?kept=1"))
            }
            try await scene.withCoordinator(engine) {
                let response = try await $0.get(scene.origin.url("/"))
                #expect(response.bodyText == "b=2; kept=1")
            }
        }
    }

    @Test("each hop sets and gets, and what was set by hand stays at the first", arguments: Engine.allCases)
    func hops(engine: Engine) async throws {
        try await withScene(
            engine,
            answering: { request in
                guard request.target == "/second" else { return Self.answer(request) }
                return ScriptedOrigin.Answer(302, "", [("Set-Cookie", "b=2"), ("Location", "/third")])
            }
        ) { scene, coordinator in
            let response = try await coordinator.get(scene.origin.url("/?a=1&to=/second")) {
                $0.cookies.manual = [RequestCookie("hand", "x")]
            }
            #expect(response.bodyText == "a=1; b=2")
            #expect(scene.origin.seen().map { $0.fields["cookie"] } == ["hand=x", "a=1", "a=1; b=2"])
            let repeated = try await coordinator.get(scene.origin.url("/?to=/end")) {
                $0.cookies.manual = [RequestCookie("hand", "x"), RequestCookie("a", "mine")]
                $0.cookies.repeatsManual = true
            }
            #expect(repeated.bodyText.hasPrefix("hand=x; a=mine"))
        }
    }

    @Test(
        "a field line by hand stays at the first hop, or with its origin where that is asked for",
        arguments: Engine.allCases, [false, true])
    func lines(engine: Engine, isProgramCache: Bool) async throws {
        let other = try ScriptedOrigin(Self.answer)
        defer { other.stop() }
        try await withScene(
            engine, adjust: { if isProgramCache { $0.downloadCache = MemoryCache() } }, answering: Self.answer
        ) { scene, coordinator in
            func expect(
                _ wanted: String, of target: String, repeats: Bool, sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let response = try await coordinator.get(scene.origin.url(target), fields: ["Cookie": "a=line"]) {
                    $0.cookies.repeatsManual = repeats
                }
                #expect(response.bodyText == wanted, sourceLocation: sourceLocation)
            }
            try await expect("none", of: "/?to=/", repeats: false)
            try await expect("a=line", of: "/?to=/", repeats: true)
            try await expect("a=line", of: "/?to=/again?to=/", repeats: true)
            try await expect("none", of: "/?to=\(other.url("/"))", repeats: true)
            // It does not come back.
            let there = other.url("/back?to=\(scene.origin.url("/"))")
            try await expect("none", of: "/?to=\(there)", repeats: true)
        }
    }

    @Test(
        "cookies of the options stay at the first hop, or with its origin where that is asked for, whoever leads on",
        arguments: Engine.allCases, [false, true])
    func options(engine: Engine, isProgramCache: Bool) async throws {
        let other = try ScriptedOrigin(Self.answer)
        defer { other.stop() }
        for decisions in [nil, Sending()] {
            try await withScene(
                engine,
                adjust: {
                    $0.decisions = decisions
                    if isProgramCache { $0.downloadCache = MemoryCache() }
                }, answering: Self.answer
            ) { scene, coordinator in
                let there = other.url("/back?to=\(scene.origin.url("/"))")
                for (target, repeats, expected) in [
                    ("/?to=/", false, "none"), ("/?to=/", true, "a=x"), ("/?to=/again?to=/", true, "a=x"),
                    ("/?to=\(other.url("/"))", false, "none"), ("/?to=\(other.url("/"))", true, "none"),
                    // They do not come back.
                    ("/?to=\(there)", true, "none"),
                ] {
                    let response = try await coordinator.get(scene.origin.url(target)) {
                        $0.cookies.manual = [RequestCookie("a", "x")]
                        $0.cookies.repeatsManual = repeats
                    }
                    #expect(response.bodyText == expected, "\(target) \(repeats) \(decisions != nil)")
                }
            }
        }
    }

    @Test("by hand come first: those of a field line, those of the options, then the jar's of other names")
    func manual() async throws {
        try await withScene(answering: Self.answer) { scene, coordinator in
            _ = try await coordinator.get(scene.origin.url("/?a=jar&b=jar&c=jar"))
            let response = try await coordinator.get(scene.origin.url("/"), fields: ["Cookie": "a=line"]) {
                $0.cookies.manual = [RequestCookie("b", "option")]
            }
            #expect(response.bodyText == "a=line; b=option; c=jar")
            let alone = try await coordinator.get(scene.origin.url("/")) {
                $0.cookies.jar = .none
                $0.cookies.manual = [RequestCookie("b", "option")]
            }
            #expect(alone.bodyText == "b=option")
            await #expect(throws: FetchError.self) {
                _ = try await coordinator.get(scene.origin.url("/")) {
                    $0.cookies.manual = [RequestCookie("b", "a\r\nX: y")]
                }
            }
        }
    }

    @Test("text by hand is sent as it stands, however long, before what is stored", arguments: Engine.allCases)
    func text(engine: Engine) async throws {
        try await withScene(engine, answering: Self.answer) { scene, coordinator in
            _ = try await coordinator.get(scene.origin.url("/?a=jar&b=jar&c=jar"))
            let text = #"a="x;y";  d = 4"#
            let byLine = try await coordinator.get(scene.origin.url("/"), fields: ["Cookie": text])
            #expect(byLine.bodyText == text + "; b=jar; c=jar")
            let byOption = try await coordinator.get(scene.origin.url("/")) {
                $0.cookies.manual = [RequestCookie("", text), RequestCookie("b", "2")]
            }
            #expect(byOption.bodyText == text + "; b=2; c=jar")
            let long = String(repeating: "v", count: 80_000)
            let beyond = try await coordinator.get(scene.origin.url("/")) {
                $0.cookies.manual = [RequestCookie("a", long)]
            }
            #expect(beyond.bodyText == "a=\(long); b=jar; c=jar")
        }
    }

    @Test(
        "what a 304 sets is kept, in the store and in memory", arguments: Engine.allCases,
        [RequestOptions.Cookies.Jar.shared, .memory("m")])
    func notModified(engine: Engine, jar: RequestOptions.Cookies.Jar) async throws {
        try await withScene(engine) { request in
            if request.target == "/" { return ScriptedOrigin.Answer(200, request.fields["cookie"] ?? "none") }
            var answer = page("one", "no-cache", to: request)
            if answer.status == 304 { answer.fields.append(("Set-Cookie", "a=304; Path=/")) }
            return answer
        } _: { scene, coordinator in
            for (target, expected) in [
                ("/page", "network 200 one"), ("/page", "revalidated 200 one"), ("/", "network 200 a=304"),
            ] {
                let response = try await coordinator.get(scene.origin.url(target)) { $0.cookies.jar = jar }
                #expect(summary(response) == expected)
            }
        }
    }

    @Test("jars are apart: named ones, those in memory, and none", arguments: Engine.allCases)
    func jars(engine: Engine) async throws {
        try await withScene(engine, answering: Self.answer) { scene, coordinator in
            let jars: [RequestOptions.Cookies.Jar] = [.shared, .named("one"), .memory(""), .memory("one"), .none]
            for (number, jar) in jars.enumerated() {
                _ = try await coordinator.get(scene.origin.url("/?a=\(number)")) { $0.cookies.jar = jar }
            }
            var seen: [String] = []
            for jar in jars {
                seen.append(try await coordinator.get(scene.origin.url("/")) { $0.cookies.jar = jar }.bodyText)
            }
            #expect(seen == ["a=0", "a=1", "a=2", "a=3", "none"])
        }
    }

    @Test("without a store the jar is in memory")
    func ephemeral() async throws {
        try await withScene(answering: Self.answer) { scene in
            try await scene.withCoordinator {
                $0.store = .none
            } _: { coordinator in
                _ = try await coordinator.get(scene.origin.url("/?a=1&to=/"))
                #expect(try await coordinator.get(scene.origin.url("/")).bodyText == "a=1")
            }
            #expect(!FileManager.default.fileExists(atPath: scene.store))
        }
    }

    @Test("an accept policy keeps out what comes from elsewhere than the document")
    func policy() async throws {
        try await withScene(answering: Self.answer) { scene, coordinator in
            let port = scene.origin.url("").split(separator: ":").last ?? ""
            func get(_ host: String, _ target: String, _ document: String?) async throws -> String {
                try await coordinator.get("http://\(host):\(port)\(target)") {
                    $0.transport.resolve = ["\(host):\(port):127.0.0.1"]
                    $0.cookies.mainDocumentURL = document
                }.bodyText
            }
            _ = try await get("ad.test", "/?third=1", "http://www.site.test/")
            #expect(try await get("ad.test", "/", nil) == "none")
            _ = try await get("img.site.test", "/?first=1%3bDomain=site.test", "http://www.site.test/")
            #expect(try await get("www.site.test", "/", nil) == "first=1")
            _ = try await coordinator.get("http://ad.test:\(port)/?never=1") {
                $0.transport.resolve = ["ad.test:\(port):127.0.0.1"]
                $0.cookies.accepts = .never
            }
            #expect(try await get("ad.test", "/", nil) == "none")
        }
    }

    @Test(
        "a redirect to a host in which IDNA makes a colon and a slash takes no cookies anywhere",
        arguments: Engine.allCases, [false, true])
    func mappedHost(engine: Engine, isEncoded: Bool) async throws {
        let other = try ScriptedOrigin { _ in ScriptedOrigin.Answer(200, "taken") }
        defer { other.stop() }
        let (colon, slash) = isEncoded ? ("%EF%BC%9A", "%EF%BC%8F") : ("\u{FF1A}", "\u{FF0F}")
        let location = "http://127.0.0.1\(colon)\(other.port)\(slash).bank.test/steal"
        try await withScene(engine) { request in
            request.target == "/go"
                ? ScriptedOrigin.Answer(302, "", [("Location", location)])
                : ScriptedOrigin.Answer(200, "", [("Set-Cookie", "a=1; Domain=bank.test")])
        } _: { scene, coordinator in
            let port = scene.origin.port
            func get(_ target: String) async throws -> Response {
                try await coordinator.get("http://www.bank.test:\(port)\(target)") {
                    $0.transport.resolve = ["www.bank.test:\(port):127.0.0.1"]
                }
            }
            _ = try await get("/")
            await failure(.redirectRefused) { try await get("/go") }
            #expect(scene.origin.seen("/go").first?.fields["cookie"] == "a=1")
            #expect(other.seen().isEmpty)
        }
    }

    @Test("a flood is bounded: as many as are left of a full domain, and a field of 56 KiB", arguments: Engine.allCases)
    func flood(engine: Engine) async throws {
        try await withScene(engine) { request in
            let value = String(repeating: "v", count: 100)
            return ScriptedOrigin.Answer(
                200, "\((request.fields["cookie"] ?? "").utf8.count)",
                (0..<450).map { ("Set-Cookie", "n\(request.number)x\($0)=\(value)") })
        } _: { scene, coordinator in
            for _ in 0..<4 { _ = try await coordinator.get(scene.origin.url("/")) }
            #expect(try coordinator.cookies.cookies().count == 900)
            let length = try #require(Int(try await coordinator.get(scene.origin.url("/")).bodyText))
            #expect((56_000...57_344).contains(length))
        }
    }

    @Test(
        "as many cookies as a field holds go out over HTTP/2 too, which sends no head above 64 KiB",
        .enabled(if: HTTP2Origin.canRun, HTTP2Origin.missing))
    func longestField() async throws {
        let directory = try TemporaryDirectory()
        let origin = try HTTP2Origin(.refused, streams: 1, in: directory)
        defer { origin.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            let value = String(repeating: "v", count: 1000)
            try await coordinator.cookies.set((0..<100).map { Cookie("n\($0)", value, domain: "127.0.0.1") })
            let response = try await coordinator.send(origin.request())
            #expect(response.head.version == "HTTP/2" && response.bodyText == "hi")
        }
    }

    @Test(
        "a cookie set meanwhile does not hide what is stored, in the store's cache or the program's",
        arguments: Engine.allCases, [false, true])
    func setMeanwhile(engine: Engine, isProgramCache: Bool) async throws {
        try await withScene(
            engine, adjust: { if isProgramCache { $0.downloadCache = MemoryCache() } }
        ) {
            ScriptedOrigin.Answer(
                200, $0.fields["cookie"] ?? "none",
                [("Cache-Control", "max-age=60")] + ($0.target == "/set" ? [("Set-Cookie", "n=1")] : []))
        } _: { scene, coordinator in
            #expect(summary(try await coordinator.get(scene.origin.url("/page"))) == "network 200 none")
            _ = try await coordinator.get(scene.origin.url("/set"))
            #expect(summary(try await coordinator.get(scene.origin.url("/page"))) == "cache 200 none")
        }
    }

    @Test("what is answered from the cache is answered for the cookies of the request, and sets nothing anew")
    func cached() async throws {
        try await withScene {
            ScriptedOrigin.Answer(
                200, $0.fields["cookie"] ?? "none",
                [("Cache-Control", "max-age=60"), ("Vary", "Cookie"), ("Set-Cookie", "n=\($0.number)")])
        } _: { scene, coordinator in
            #expect(summary(try await coordinator.get(scene.origin.url("/"))) == "network 200 none")
            #expect(summary(try await coordinator.get(scene.origin.url("/"))) == "network 200 n=1")
            #expect(summary(try await coordinator.get(scene.origin.url("/"))) == "network 200 n=2")
            let other = try await coordinator.get(scene.origin.url("/")) { $0.cookies.jar = .none }
            #expect(summary(other) == "cache 200 none")
            #expect(summary(try await coordinator.get(scene.origin.url("/"))) == "network 200 n=3")
        }
    }
}
