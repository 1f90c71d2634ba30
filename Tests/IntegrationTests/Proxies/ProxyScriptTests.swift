import Foundation
import Testing
import Trawl

/// Proxy auto-configuration, with the real child process.
@Suite("Proxy scripts (ASI-PRX-05)", .serialized, .timeLimit(.minutes(2)))
struct ProxyScriptTests {
    /// A proxy that answers by itself and says which it is.
    private func proxy(_ name: String) throws -> ScriptedPeer {
        try ScriptedPeer { connection, _ in
            while connection.readHead() != nil {
                connection.send("HTTP/1.1 200 Fine\r\nContent-Length: \(name.utf8.count)\r\n\r\n\(name)")
            }
        }
    }

    /// The path of a file with a script.
    private func file(_ script: String, in directory: TemporaryDirectory) throws -> String {
        let name = "\(script.hashValue).pac"
        try directory.put(name, Array(script.utf8))
        return directory.file(name)
    }

    private func answer(
        _ url: String, _ script: String, on coordinator: Coordinator, in directory: TemporaryDirectory
    ) async throws -> String {
        var request = Request(url)
        request.options.proxy = ProxyPolicy(script: try file(script, in: directory))
        return try await coordinator.send(request).bodyText
    }

    @Test("the script decides by host, and its list is tried in order")
    func lists() async throws {
        let (one, two) = (try proxy("one"), try proxy("two"))
        defer {
            one.stop()
            two.stop()
        }
        let free = ClosedPort.number
        let script = """
            function FindProxyForURL(url, host) {
              if (shExpMatch(host, "*.one.test")) return "PROXY \(one.place)";
              if (dnsDomainIs(host, ".two.test")) return "PROXY 127.0.0.1:\(free); PROXY \(two.place)";
              if (isInNet(host, "127.0.0.0", "255.0.0.0")) return "PROXY 127.0.0.1:\(free); DIRECT";
              return "DIRECT";
            }
            """
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            try await withTestCoordinator { coordinator in
                for _ in 0..<2 {
                    #expect(try await answer("http://a.one.test/", script, on: coordinator, in: directory) == "one")
                    #expect(try await answer("http://a.two.test/", script, on: coordinator, in: directory) == "two")
                }
                let direct = try await answer(origin.url("/anything"), script, on: coordinator, in: directory)
                #expect(direct.contains("/anything"))
                #expect(coordinator.proxyScriptProblem == nil)
            }
        }
        #expect(ProcessTree.children(withArgument: "pac").isEmpty)
    }

    @Test("where a proxy refuses no other way is tried, and where its connection breaks the next one is")
    func refusals() async throws {
        // To a greeting, and to a wish (RFC 1928 §3, §6). After what is no refusal the connection ends.
        let cases: [(answers: [[UInt8]], isRefusal: Bool)] = [
            ([[5, 0xFF]], true), ([[5, 0], [5, 2, 0, 1, 0, 0, 0, 0, 0, 0]], true), ([], false), ([[5, 0]], false),
        ]
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) { coordinator in
                for (answers, isRefusal) in cases {
                    let peer = try ScriptedPeer { connection, _ in
                        _ = connection.read(3)
                        for (number, answer) in answers.enumerated() {
                            if number > 0 { _ = connection.read(10) }
                            connection.send(answer)
                        }
                        if isRefusal { connection.drain() }
                    }
                    defer { peer.stop() }
                    let script = "function FindProxyForURL() { return 'SOCKS5 \(peer.place); DIRECT'; }"
                    if isRefusal {
                        await failure(.proxy) {
                            var request = Request(origin.url("/anything"))
                            request.options.proxy = ProxyPolicy(script: try file(script, in: directory))
                            return try await coordinator.send(request)
                        }
                    } else {
                        let body = try await answer(origin.url("/anything"), script, on: coordinator, in: directory)
                        #expect(body.contains("/anything"))
                    }
                }
            }
        }
        // Without the proxy it would be that there is no such name.
        for answer in ["HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 103 Soon\r\n\r\n", "no\r\n\r\n"] {
            let peer = try ScriptedPeer { connection, _ in
                _ = connection.readHead()
                connection.send(answer)
                connection.drain()
            }
            defer { peer.stop() }
            let script = "function FindProxyForURL() { return 'PROXY \(peer.place); DIRECT'; }"
            try await withTestCoordinator(workers: 1) { coordinator in
                _ = await failure(.proxy) {
                    var request = Request("https://origin.invalid/")
                    request.options.proxy = ProxyPolicy(script: try file(script, in: directory))
                    return try await coordinator.send(request)
                }
            }
        }
    }

    @Test("a name that rule after rule asks for is looked up once, and more rules than lookups are no fault")
    func manyRules() async throws {
        let one = try proxy("one")
        defer { one.stop() }
        let rules = (0..<100).map { "if (isInNet(host, '10.\($0).0.0', '255.255.0.0')) return 'DIRECT';" }
        let script =
            "function FindProxyForURL(url, host) { \(rules.joined(separator: "\n")) return 'PROXY \(one.place)'; }"
        let directory = try TemporaryDirectory()
        try await withTestCoordinator(workers: 1) { coordinator in
            let body = try await answer("http://localhost/", script, on: coordinator, in: directory)
            #expect(body == "one")
            #expect(coordinator.proxyScriptProblem == nil)
        }
    }

    @Test("who looks for a script is no fetch of the program's, whether there is one or not")
    func uncounted() async throws {
        let one = try proxy("one")
        let script = "function FindProxyForURL() { return 'PROXY \(one.place)'; }"
        let scripts = try ScriptedOrigin { _ in .init(200, script) }
        defer {
            one.stop()
            scripts.stop()
        }
        try await withOrigin { origin in
            for place in [scripts.url("/wpad.dat"), "http://127.0.0.1:\(ClosedPort.number)/wpad.dat"] {
                try await withTestCoordinator(workers: 1) { coordinator in
                    var request = Request(origin.url("/anything"))
                    request.options.proxy = ProxyPolicy(script: place)
                    _ = try await coordinator.send(request)
                    let status = await coordinator.status()
                    #expect(status?.done == 1 && status?.failed == 0, "\(place)")
                }
            }
        }
    }

    @Test("a server that names hosts no name can have does not switch the script off")
    func longHosts() async throws {
        let one = try proxy("one")
        defer { one.stop() }
        let origin = try ScriptedOrigin { seen in
            let host = String(repeating: "a", count: 8200) + seen.target.dropFirst()
            return ScriptedOrigin.Answer(302, "", [("Location", "http://\(host)/")])
        }
        defer { origin.stop() }
        let script = "function FindProxyForURL(u, h) { return h === '127.0.0.1' ? 'DIRECT' : 'PROXY \(one.place)'; }"
        let directory = try TemporaryDirectory()
        try directory.put("p.pac", Array(script.utf8))
        let policy = ProxyPolicy(script: directory.file("p.pac"))
        try await withTestCoordinator(workers: 1) { coordinator in
            for number in 1...3 {
                var request = Request(origin.url("/\(number)"))
                request.options.proxy = policy
                let sent = request
                await failure(.redirectRefused) { try await coordinator.send(sent) }
            }
            // A long URL is none of the script's business, which is told the origin.
            for url in ["http://a.test/" + String(repeating: "p", count: 20_000), "http://b.test/"] {
                var request = Request(url)
                request.options.proxy = policy
                let response = try await coordinator.send(request)
                #expect(response.bodyText == "one")
            }
            #expect(coordinator.proxyScriptProblem == nil)
        }
    }

    @Test(
        "a script that is of no use means no proxy, and is told",
        arguments: [
            "function FindProxyForURL() { for (;;) {} }", "function FindProxyForURL() { throw 'x'; }", "rubbish (",
            "function FindProxyForURL() { var a = ['x']; for (;;) a.push(a.join('')); }", "", "for (;;) {}",
            "function FindProxyForURL() { return 'rubbish'; }",
            "function FindProxyForURL() { return 'PROXY a:99999'; }",
        ])
    func useless(script: String) async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) { coordinator in
                let body = try await answer(origin.url("/anything"), script, on: coordinator, in: directory)
                #expect(body.contains("/anything"))
                #expect(coordinator.proxyScriptProblem != nil)
            }
        }
        #expect(ProcessTree.children(withArgument: "pac").isEmpty)
    }

    @Test("what a script says that names no proxy is told, but for a password; and nothing at all is no proxy")
    func rubbish() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            for (said, told) in [
                ("PROXY http://p:1", "names no proxy: PROXY http://p:1"), ("PROXY u:hidden@p:1", "names no proxy"),
                ("", nil),
            ] as [(String, String?)] {
                try await withTestCoordinator(workers: 1) { coordinator in
                    let script = "function FindProxyForURL() { return '\(said)'; }"
                    let body = try await answer(origin.url("/anything"), script, on: coordinator, in: directory)
                    #expect(body.contains("/anything"))
                    let problem = coordinator.proxyScriptProblem?.detail
                    #expect(told.map { problem?.hasSuffix($0) == true } ?? (problem == nil), "\(problem ?? "")")
                }
            }
        }
    }

    @Test("user and password in a script's place are told nobody, whatever goes wrong")
    func secretPlace() async throws {
        let scripts = [
            "/none": "rubbish (", "/threw": "function FindProxyForURL() { throw 'x'; }",
            "/long": "function FindProxyForURL() { for (;;) {} }",
            "/says": "function FindProxyForURL() { return 'x'; }",
        ]
        let origin = try ScriptedOrigin { seen in
            scripts[seen.target].map { ScriptedOrigin.Answer(200, $0) } ?? ScriptedOrigin.Answer(404)
        }
        defer { origin.stop() }
        let free = ClosedPort.number
        let own = origin.url("").replacingOccurrences(of: "://", with: "://me:hidden@")
        var places = scripts.keys.sorted().map { own + $0 }
        places += [
            own + "/missing", "http://me:hidden@127.0.0.1:\(free)/p.pac", "http://me:hidden@/p.pac",
            "ftp://me:hidden@h.test/p.pac", "file://me:hidden@h.test/p.pac", "me:hidden@h.test/p.pac",
        ]
        try await withTestCoordinator(workers: 1) { coordinator in
            for place in places {
                var request = Request(origin.url("/\(place.hashValue)"))
                request.options.proxy = ProxyPolicy(script: place)
                _ = try await coordinator.send(request)
                let problem = try #require(coordinator.proxyScriptProblem, "\(place)")
                let texts = ["\(problem)", String(reflecting: problem), problem.detail, problem.url ?? ""]
                #expect(!texts.contains { $0.contains("hidden") }, "\(texts)")
            }
        }
        let run = try CommandRun(["get", origin.url("/x"), "--pac", "me:hidden@h.test/p.pac"])
        #expect(run.status == 26 && !run.errors.contains("hidden"), "\(run.errors)")
    }

    @Test("a server that keeps a script back holds nobody up for longer than the request's own limits")
    func silence() async throws {
        let peer = try ScriptedPeer { connection, _ in connection.drain() }
        defer { peer.stop() }
        try await withOrigin { origin in
            func fetch(_ option: String, seconds: Int) throws -> (run: CommandRun, time: Duration) {
                let clock = ContinuousClock()
                let start = clock.now
                let script = "http://\(peer.place)/x.pac"
                let run = try CommandRun(
                    ["get", "-s", "--no-cache", "--pac", script, origin.url("/anything"), option, "\(seconds)"])
                return (run, clock.now - start)
            }
            for option in ["-m", "--read-timeout"] {
                var (run, time) = try fetch(option, seconds: 1)
                // A busy machine may need more for the request itself.
                if run.status != 0 { (run, time) = try fetch(option, seconds: 5) }
                #expect(run.status == 0 && run.text.contains("/anything"), "\(run.errors)")
                // A script is given twenty.
                #expect(time < .seconds(19))
            }
        }
    }

    @Test("a request that is in a hurry goes without the script by itself: others have it asked for again")
    func hurry() async throws {
        let one = try proxy("one")
        let isThere = Occasion()
        let scripts = try ScriptedOrigin { _ in
            isThere.wait()
            return ScriptedOrigin.Answer(200, "function FindProxyForURL() { return 'PROXY \(one.place)'; }")
        }
        defer {
            isThere.open()
            one.stop()
            scripts.stop()
        }
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) { coordinator in
                var request = Request(origin.url("/anything"))
                request.options.proxy = ProxyPolicy(script: scripts.url("/p.pac"))
                var hasty = request
                hasty.options.timeLimits.exchange = .seconds(4)
                // The patient one waits for the answer to the question of the other.
                let first = coordinator.start(hasty)
                let asked = await eventually { !scripts.seen().isEmpty }
                #expect(asked)
                let second = coordinator.start(request)
                let direct = try await first.response
                #expect(direct.bodyText.contains("/anything"))
                let isAskedAgain = await eventually { scripts.seen().count == 2 }
                #expect(isAskedAgain)
                isThere.open()
                let proxied = try await second.response
                #expect(proxied.bodyText == "one")
                // So does from now on who is in a hurry.
                let known = try await coordinator.send(hasty)
                #expect(known.bodyText == "one")
            }
        }
    }

    @Test("a script that nobody waits for any more is not fetched on, and is fetched anew for the next (ASI-CAN-03)")
    func withdrawn() async throws {
        let one = try proxy("one")
        let isOver = Occasion()
        let scripts = try ScriptedOrigin { seen in
            if seen.number == 1 { isOver.wait() }
            return ScriptedOrigin.Answer(200, "function FindProxyForURL() { return 'PROXY \(one.place)'; }")
        }
        defer {
            isOver.open()
            one.stop()
            scripts.stop()
        }
        try await withTestCoordinator(workers: 1) { coordinator in
            let clock = ContinuousClock()
            var request = Request("http://a.test/")
            request.options.proxy = ProxyPolicy(script: scripts.url("/p.pac"))
            let waiting = [coordinator.start(request), coordinator.start(request)]
            let asked = await eventually { !scripts.seen().isEmpty }
            #expect(asked)
            let start = clock.now
            waiting[0].cancel()
            await failure(.cancelled) { try await waiting[0].response }
            // The other still waits for it.
            #expect(ProcessTree.unreadBytes(ofConnectionsTo: scripts.port).count == 1)
            waiting[1].cancel()
            await failure(.cancelled) { try await waiting[1].response }
            let isClosed = await eventually { ProcessTree.unreadBytes(ofConnectionsTo: scripts.port).isEmpty }
            #expect(isClosed)
            let proxied = try await coordinator.send(request)
            #expect(proxied.bodyText == "one" && scripts.seen().count == 2)
            // Otherwise it would have been waited for, for twenty.
            #expect(clock.now - start < .seconds(19))
            #expect(coordinator.proxyScriptProblem == nil)
        }
    }

    @Test("the command refuses what can be no script, and tells of one that is of no use")
    func told() async throws {
        let directory = try TemporaryDirectory()
        try directory.put("bad.pac", Array("rubbish (".utf8))
        try await withOrigin { origin in
            let get = ["get", "--store", directory.file("store"), "-o", "/dev/null", origin.url("/anything")]
            for (script, status) in [
                (directory.file("none"), 26), (directory.path, 26), ("file://" + directory.file("none"), 26),
                ("file://" + directory.path, 26), ("/dev/null", 26), ("", 2), ("ftp://x/y", 2),
            ] as [(String, Int32)] {
                let run = try CommandRun(get + ["--pac", script])
                #expect(run.status == status && run.errors.contains("--pac: "), "\(script): \(run.errors)")
            }
            for (options, environment) in [
                (["--pac", directory.file("bad.pac")], [:]), ([], ["auto_proxy": directory.file("none")]),
            ] as [([String], [String: String])] {
                let run = try CommandRun(get + options, environment: environment)
                #expect(run.status == 0 && run.errors.contains("no proxy is used"), "\(options): \(run.errors)")
            }
        }
    }

    @Test(
        "a script comes by http too, in Latin-1 as well, once for many, and not through a proxy; what is not there is none"
    )
    func http() async throws {
        let one = try proxy("one")
        defer { one.stop() }
        let script =
            "var name = 'caf\u{E9}'; function FindProxyForURL(u, h) "
            + "{ return name.length === 4 && u === 'http://' + h + '/' ? 'PROXY \(one.place)' : 'DIRECT'; }"
        let origin = try ScriptedOrigin { seen in
            var answer = ScriptedOrigin.Answer(seen.target == "/p.pac" ? 200 : 404)
            answer.body = Array(script.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
            return answer
        }
        defer { origin.stop() }
        try await withTestCoordinator { coordinator in
            var request = Request("http://a.test/path?query")
            request.options.proxy = ProxyPolicy(script: origin.url("/p.pac"))
            for host in ["a", "b", "c", "a"] {
                request.url = "http://\(host).test/path?query"
                let response = try await coordinator.send(request)
                #expect(response.bodyText == "one")
            }
            #expect(origin.seen().count == 1)
            request.url = origin.url("/other")
            request.options.proxy = ProxyPolicy(script: origin.url("/none.pac"))
            let direct = try await coordinator.send(request)
            #expect(direct.status == 404)
            #expect(coordinator.proxyScriptProblem != nil)
        }
    }

    @Test("a script is asked for without cookies, and its server sets none")
    func cookies() async throws {
        let origin = try ScriptedOrigin { seen in
            ScriptedOrigin.Answer(
                200, "function FindProxyForURL() { return 'DIRECT'; }",
                [("Set-Cookie", "\(seen.target.dropFirst())=1; Path=/")])
        }
        defer { origin.stop() }
        try await withTestCoordinator { coordinator in
            _ = try await coordinator.send(Request(origin.url("/page")))
            var request = Request(origin.url("/other"))
            request.options.proxy = ProxyPolicy(script: origin.url("/script"))
            _ = try await coordinator.send(request)
            let asked = origin.seen("/script")
            #expect(asked.count == 1 && asked.first?.fields["cookie"] == nil)
            #expect(origin.seen("/other").first?.fields["cookie"] == "page=1")
            let names = try coordinator.cookies.cookies(for: origin.url("/")).map(\.name)
            #expect(names.sorted() == ["other", "page"])
        }
    }

    @Test("nobody is asked for what the script's server wants to be told")
    func challenged() async throws {
        let decider = QueueDecider()
        let origin = try ScriptedOrigin { seen in
            guard seen.target == "/p.pac" else { return ScriptedOrigin.Answer(200, "direct") }
            return ScriptedOrigin.Answer(401, "", [("WWW-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#)])
        }
        defer { origin.stop() }
        try await withTestCoordinator(workers: 1, adjust: { $0.decisions = decider }) { coordinator in
            var request = Request(origin.url("/page"))
            request.options.proxy = ProxyPolicy(script: origin.url("/p.pac"))
            let response = try await coordinator.send(request)
            #expect(response.bodyText == "direct")
            #expect(coordinator.proxyScriptProblem?.detail.contains("401") == true)
            #expect(decider.count == 0)
        }
    }

    @Test("the script itself does not come through the proxy that http URLs have")
    func scriptWithoutProxy() throws {
        let isUsed = Locked(false)
        let one = try ScriptedPeer { connection, _ in
            if connection.readHead() != nil { connection.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") }
        }
        let other = try ScriptedPeer { _, _ in isUsed.withLock { $0 = true } }
        let origin = try ScriptedOrigin { _ in
            ScriptedOrigin.Answer(200, "function FindProxyForURL() { return 'PROXY \(one.place)'; }")
        }
        defer {
            one.stop()
            other.stop()
            origin.stop()
        }
        // That the proxy of the script was asked is enough.
        let environment = ["auto_proxy": origin.url("/p.pac"), "http_proxy": "http://\(other.place)"]
        let run = try CommandRun(["get", "https://a.test/"], environment: environment)
        #expect(run.status != 0 && origin.seen("/p.pac").count == 1, "\(run.errors)")
        #expect(!isUsed.withLock { $0 })
    }

    @Test("the command: --pac, and auto_proxy (ASI-PRX-06)")
    func command() throws {
        let one = try proxy("one")
        defer { one.stop() }
        let directory = try TemporaryDirectory()
        try directory.put("p.pac", Array("function FindProxyForURL() { return 'PROXY \(one.place)'; }".utf8))
        let file = directory.file("p.pac")
        for (arguments, environment) in [
            (["--pac", file], [:]), (["--pac", "file://" + file], [:]), ([], ["auto_proxy": file]),
        ] as [([String], [String: String])] {
            let run = try CommandRun(["get", "http://a.test/"] + arguments, environment: environment)
            #expect(run.status == 0 && run.text == "one", "\(run.errors)")
        }
    }
}
