import Foundation
import Testing
import Trawl

/// A real HTTP proxy in front of a real origin.
@Suite(
    "Through squid", .serialized,
    .enabled(if: SquidServer.canRun && WebSites.canRun, "squid or nginx is not installed"),
    .timeLimit(.minutes(3)))
struct SquidTests {
    private func withSquid(_ body: (SquidServer, WebSites, Coordinator) async throws -> Void) async throws {
        let squid = try await SquidServer()
        defer { squid.stop() }
        try await WebSites.with { sites in
            try await withTestCoordinator { coordinator in try await body(squid, sites, coordinator) }
        }
    }

    private func request(
        _ sites: WebSites, _ site: WebSites.Site, _ target: String = "/who", through policy: ProxyPolicy
    ) -> Request {
        sites.request(site, target) { $0.options.proxy = policy }
    }

    private func facts(_ response: Response) -> [String: String] {
        var facts: [String: String] = [:]
        for line in response.bodyText.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            facts[String(parts[0])] = String(parts.last ?? "")
        }
        return facts
    }

    @Test("http goes as a request, https through a tunnel, and http too when it is wanted (ASI-PRX-01)")
    func ways() async throws {
        try await withSquid { squid, sites, coordinator in
            let plain = ProxyPolicy(try Proxy(squid.place))
            #expect(try await coordinator.send(request(sites, .clear, through: plain)).status == 200)
            let secure = try await coordinator.send(request(sites, .secure, through: plain))
            #expect(secure.status == 200 && facts(secure)["tls"] != "")
            #expect(secure.fields["Via"] == nil && secure.fields["X-Cache"] == nil)
            var tunnelling = plain
            tunnelling.tunnelsAll = true
            let tunnelled = try await coordinator.send(request(sites, .clear, through: tunnelling))
            #expect(tunnelled.fields["Via"] == nil)
            await coordinator.shutdown()
            let port = sites.server.port
            #expect(
                await squid.hasLogged(3) { _ in true }
                    && Set(squid.log()) == [
                        "GET http://127.0.0.2:\(port)/who - 200", "CONNECT 127.0.0.1:\(port) - 200",
                        "CONNECT 127.0.0.2:\(port) - 200",
                    ], "\(squid.log())")
        }
    }

    @Test("each coordinator has proxies of its own, and hosts that need none (ASI-PRX-08)")
    func ofCoordinators() async throws {
        let squid = try await SquidServer()
        defer { squid.stop() }
        try await WebSites.with { sites in
            let policy = ProxyPolicy(try Proxy(squid.place), exceptions: ["127.0.0.3"])
            try await withTestCoordinator {
                $0.proxy = policy
            } _: { first in
                try await withTestCoordinator { second in
                    for coordinator in [first, second] {
                        for site in [WebSites.Site.secure, .otherSecure] {
                            let response = try await coordinator.send(sites.request(site, "/who"))
                            #expect(response.status == 200)
                        }
                    }
                    await second.shutdown()
                }
                await first.shutdown()
            }
            let port = sites.server.port
            #expect(await squid.hasLogged(1) { _ in true })
            #expect(squid.log() == ["CONNECT 127.0.0.1:\(port) - 200"], "\(squid.log())")
        }
    }

    @Test("user and password go to the proxy alone, in either way (ASI-PRX-02)")
    func users() async throws {
        try await withSquid { squid, sites, coordinator in
            let proxy = try Proxy("alice:wonder%3Aland@\(squid.securedPlace)")
            for site in [WebSites.Site.clear, .secure] {
                let response = try await coordinator.send(request(sites, site, through: ProxyPolicy(proxy)))
                #expect(response.status == 200)
                #expect(facts(response)["proxy-authorization"] == "")
            }
            let nobody = ProxyPolicy(try Proxy(squid.securedPlace))
            var unknown = request(sites, .clear, through: nobody)
            unknown.options.authentication.usesSession = false
            let answer = try await coordinator.send(unknown)
            #expect(answer.status == 407 && answer.fields["Proxy-Authenticate"]?.hasPrefix("Basic") == true)
            var plain = request(sites, .secure, through: nobody)
            plain.options.authentication.usesSession = false
            let error = await failure(.proxy) { try await coordinator.send(plain) }
            #expect(error?.detail.contains("407") == true && error?.cause == .curl(56))
            var wrong = nobody
            wrong.setUser("bob", password: "plantedword")
            let refused = await failure(.proxyAuthentication) {
                try await coordinator.send(request(sites, .secure, through: wrong))
            }
            #expect(refused.map { "\($0)".contains("plantedword") || "\($0)".contains("bob") } == false)
            // What is said by hand is for the proxy too.
            var byHand = request(sites, .secure, through: nobody)
            byHand.fields.add("Proxy-Authorization", "Basic Ym9iOmJ1aWxkZXI=")
            let handed = try await coordinator.send(byHand)
            #expect(handed.status == 200 && facts(handed)["proxy-authorization"] == "")
            byHand.options.proxy = .direct
            #expect(facts(try await coordinator.send(byHand))["proxy-authorization"] == "")
        }
    }

    @Test("a tunnel of one user is not used for another, nor for nobody")
    func sharing() async throws {
        try await withSquid { squid, sites, coordinator in
            try await withOrigin { origin in
                var connections: [String: Set<String>] = [:]
                for _ in 0..<6 {
                    for user in [SquidServer.alice, SquidServer.bob] {
                        var policy = ProxyPolicy(
                            try Proxy(squid.securedPlace).with(user: user.name, password: user.password))
                        policy.tunnelsAll = true
                        var request = Request(origin.url("/anything"))
                        request.options.proxy = policy
                        let response = try await coordinator.send(request)
                        connections[user.name, default: []].insert(try #require(response.fields["X-Connection"]))
                    }
                }
                #expect(connections["alice"]?.isDisjoint(with: connections["bob"] ?? []) == true)
                var nobody = ProxyPolicy(try Proxy(squid.securedPlace))
                nobody.tunnelsAll = true
                var request = Request(origin.url("/anything"))
                request.options.proxy = nobody
                request.options.authentication.usesSession = false
                await failure(.proxy) { try await coordinator.send(request) }
                // One user's connection is kept as any other.
                var policy = ProxyPolicy(try Proxy(squid.securedPlace).with(user: "bob", password: "builder"))
                policy.tunnelsAll = true
                request.options.proxy = policy
                var used: [Bool] = []
                for _ in 0..<6 {
                    used.append(try await coordinator.send(request).metrics.last?.reusedConnection ?? false)
                }
                #expect(used.suffix(2) == [true, true])
            }
        }
    }

    @Test("each hop has its own way (ASI-RED-10)")
    func hops() async throws {
        try await withSquid { squid, sites, coordinator in
            let policy = ProxyPolicy(try Proxy(squid.place), exceptions: ["127.0.0.1"])
            let there = try await coordinator.send(
                request(sites, .clear, "/to?" + sites.url(.secure, "/who"), through: policy))
            #expect(there.redirects.count == 1 && there.status == 200)
            let back = try await coordinator.send(
                request(sites, .clear, "/to?" + sites.url(.clear, "/who"), through: policy))
            #expect(back.status == 200)
            await coordinator.shutdown()
            let port = sites.server.port
            #expect(await squid.hasLogged(3) { _ in true })
            #expect(squid.log().allSatisfy { $0.hasPrefix("GET http://127.0.0.2:\(port)/") }, "\(squid.log())")
        }
    }

    @Test("a refused tunnel is an error and no response")
    func refusals() async throws {
        try await withSquid { squid, _, coordinator in
            var request = Request("https://127.0.0.9/secret")
            request.options.proxy = ProxyPolicy(try Proxy(squid.place))
            let error = await failure(.proxy) { try await coordinator.send(request) }
            #expect(error?.detail.contains("403") == true)
            #expect(error?.isRetryable == true)
        }
    }

    @Test("the environment of the command (ASI-PRX-04, ASI-PRX-09)")
    func environment() async throws {
        let cases: [([String: String], Bool)] = [
            (["http_proxy": "PROXY"], true), (["HTTP_PROXY": "PROXY"], false), (["https_proxy": "PROXY"], false),
            (["all_proxy": "http://PROXY"], true), (["ALL_PROXY": "PROXY"], true),
            (["http_proxy": "PROXY", "no_proxy": "127.0.0.1"], false),
            (["http_proxy": "PROXY", "no_proxy": "127.0.0.0/8"], false),
            (["http_proxy": "PROXY", "no_proxy": "localhost,127.0.0.2"], true),
            (["http_proxy": "PROXY", "NO_PROXY": "*"], false),
            (["HTTP_PROXY": "PROXY", "REQUEST_METHOD": "GET"], false),
        ]
        let squid = try await SquidServer()
        defer { squid.stop() }
        try await withOrigin { origin in
            for (number, (variables, isUsed)) in cases.enumerated() {
                let url = origin.url("/anything?\(number)")
                let environment = variables.mapValues { $0.replacingOccurrences(of: "PROXY", with: squid.place) }
                let run = try CommandRun(["get", url], environment: environment)
                #expect(run.status == 0 && run.text.contains("squid.test") == isUsed, "\(variables): \(run.errors)")
                if isUsed { #expect(await squid.hasLogged(1) { $0 == "GET \(url) - 200" }) }
            }
            #expect(squid.log().count == cases.count { $0.1 }, "\(squid.log())")
        }
    }

    @Test(
        "the command's options, and what they exit with (ASI-PRX-08, ASI-PRX-09)",
        .enabled(if: Resolver.knowsNobody, Resolver.missing))
    func command() async throws {
        let squid = try await SquidServer()
        defer { squid.stop() }
        try await withOrigin { origin in
            let url = origin.url("/anything")
            func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> CommandRun {
                try CommandRun(["get"] + arguments, environment: environment)
            }
            func via(_ run: CommandRun) -> Bool { run.text.contains("squid.test") }
            #expect(via(try run(["-x", squid.place, url])))
            #expect(via(try run(["--proxy", "http://\(squid.place)/", url])))
            #expect(via(try run(["-x", squid.securedPlace, "-U", "alice:wonder:land", url])))
            #expect(via(try run(["-x", squid.securedPlace, "-U", "bob:builder", "--proxy-header", "X-P: p", url])))
            #expect(!via(try run(["-x", squid.place, "--noproxy", "127.0.0.1", url])))
            #expect(!via(try run(["-x", "", url], ["http_proxy": squid.place])))
            #expect(!via(try run(["-x", squid.place, url], ["no_proxy": "127.0.0.1"])))
            #expect(via(try run(["-x", squid.place, "--noproxy", "", url], ["no_proxy": "127.0.0.1"])))
            // An http tunnel hides the proxy from the origin.
            let tunnelled = try run(["-p", "-x", squid.place, url])
            #expect(tunnelled.status == 0 && !via(tunnelled))
            let cases: [([String], Int32)] = [
                (["-x", "127.0.0.1:\(ClosedPort.number)", url], 7), (["-x", "nowhere.invalid:1", url], 5),
                (["-p", "-x", squid.securedPlace, url], 56), (["-x", "https://\(squid.place)", url], 35),
                (["-x", "gopher://x", url], 2), (["--socks5", "127.0.0.1:1", "-x", "a", url], 2),
            ]
            for (arguments, status) in cases {
                let run = try run(arguments)
                #expect(run.status == status && run.output.isEmpty, "\(arguments): \(run.status) \(run.errors)")
            }
            let secret = try run(["-x", "http://planteduser:plantedword@127.0.0.1:\(ClosedPort.number)", url])
            #expect(secret.status == 7 && !secret.errors.contains("planted"), "\(secret.errors)")
        }
    }

    @Test("the cache works through a proxy, and fetches by different proxies are not taken for one")
    func caching() async throws {
        let squid = try await SquidServer()
        defer { squid.stop() }
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            try await withTestCoordinator(adjust: { $0.store = .directory(directory.file("store")) }) { coordinator in
                var request = Request(origin.url("/bytes/100?field=Cache-Control:%20max-age=60"))
                request.options.proxy = ProxyPolicy(try Proxy(squid.place))
                #expect(try await coordinator.send(request).source == .network)
                #expect(try await coordinator.send(request).source != .network)
                request.options.proxy = .direct
                #expect(try await coordinator.send(request).source != .network)
            }
        }
    }
}
