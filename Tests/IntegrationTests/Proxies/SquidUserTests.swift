import Foundation
import Testing
import Trawl

/// A real proxy that tells its users apart by Basic and Digest.
@Suite(
    "Users of squid, ASI-PRX-02", .serialized,
    .enabled(if: SquidServer.canRun && WebSites.canRun, "squid or nginx is not installed"),
    .timeLimit(.minutes(3)))
struct SquidUserTests {
    private func policy(_ squid: SquidServer, _ user: (name: String, password: String)?) throws -> ProxyPolicy {
        var policy = ProxyPolicy(try Proxy(squid.securedPlace))
        if let user { policy.setUser(user.name, password: user.password) }
        return policy
    }

    @Test(
        "http and https, asked once, and remembered for the next fetch",
        arguments: [[SquidServer.Scheme.basic], [.digest], [.basic, .digest]])
    func schemes(_ schemes: [SquidServer.Scheme]) async throws {
        let squid = try await SquidServer(schemes)
        defer { squid.stop() }
        let scheme = schemes.contains(.digest) ? "Digest" : "Basic"
        try await WebSites.with { sites in
            try await withTestCoordinator { coordinator in
                for site in [WebSites.Site.clear, .secure] {
                    func send(_ user: (name: String, password: String)?) async throws -> Response {
                        var policy = try policy(squid, user)
                        policy.sendsAhead = false
                        return try await coordinator.send(sites.request(site, "/who") { $0.options.proxy = policy })
                    }
                    await coordinator.credentials.removeAll()
                    let first = try await send(SquidServer.bob)
                    #expect(first.status == 200 && first.proxyAuthentication?.scheme == scheme)
                    #expect(first.proxyAuthentication?.realm == "den of squids")
                    #expect(first.metrics.map(\.status) == [407, 200], "\(site) \(first.metrics.map(\.status))")
                    #expect(first.bodyText.contains("proxy-authorization=\n"))
                    for _ in 0..<3 {
                        let next = try await send(nil)
                        #expect(next.status == 200 && next.metrics.count == 1)
                        #expect(next.proxyAuthentication?.source == .session)
                    }
                    // Wrong ones end in time, and are in no error.
                    await coordinator.credentials.removeAll()
                    let error = await failure(.proxyAuthentication) {
                        try await send((SquidServer.bob.name, "plantedword"))
                    }
                    #expect(error.map { "\($0)".contains("planted") || "\($0)".contains("bob") } == false)
                    let found9 = await coordinator.credentials.list().isEmpty
                    #expect(found9)
                }
            }
            let users = Set(squid.log().map { $0.split(separator: " ")[2] })
            #expect(users.isSubset(of: ["-", "bob"]), "\(squid.log())")
        }
    }

    @Test("what goes ahead by Basic is not taken for wrong where Digest is wanted")
    func otherScheme() async throws {
        let squid = try await SquidServer([.digest])
        defer { squid.stop() }
        try await WebSites.with { sites in
            try await withTestCoordinator { coordinator in
                for site in [WebSites.Site.clear, .secure] {
                    let policy = try policy(squid, SquidServer.carol)
                    let response = try await coordinator.send(
                        sites.request(site, "/who") { $0.options.proxy = policy })
                    #expect(response.status == 200 && response.proxyAuthentication?.scheme == "Digest")
                }
            }
        }
    }

    @Test("two users by Digest never share a tunnel, and one user's tunnel is used again")
    func tunnels() async throws {
        let squid = try await SquidServer([.digest])
        defer { squid.stop() }
        try await withOrigin { origin in
            try await withTestCoordinator { coordinator in
                func send(_ user: (name: String, password: String)) async throws -> Response {
                    var policy = try policy(squid, user)
                    policy.tunnelsAll = true
                    policy.schemes = .digest
                    var request = Request(origin.url("/anything"))
                    request.options.proxy = policy
                    return try await coordinator.send(request)
                }
                var connections: [String: Set<String>] = [:]
                for _ in 0..<8 {
                    for user in [SquidServer.bob, SquidServer.carol] {
                        let response = try await send(user)
                        #expect(response.status == 200)
                        connections[user.name, default: []].insert(try #require(response.fields["X-Connection"]))
                    }
                }
                #expect(connections["bob"]?.isDisjoint(with: connections["carol"] ?? []) == true)
                // Each proof is another one, and the user is the same.
                var used: [Bool] = []
                for _ in 0..<6 {
                    let response = try await send(SquidServer.bob)
                    used.append(response.metrics.last?.reusedConnection ?? false)
                }
                #expect(used.suffix(2) == [true, true])
            }
            let found10 = await squid.hasLogged(2) { $0.hasPrefix("CONNECT") && $0.hasSuffix("200") }
            #expect(found10)
        }
    }

    @Test("the proxy's 407 and the origin's 401 on one fetch, by Digest and Basic (ASI-PRX-03)")
    func both() async throws {
        let squid = try await SquidServer([.digest])
        defer { squid.stop() }
        try await withScene(answering: ChallengingOrigin.taking(ChallengingOrigin.basic("you", "word"))) {
            scene, coordinator in
            for tunnels in [false, true] {
                await coordinator.credentials.removeAll()
                var policy = try policy(squid, SquidServer.bob)
                policy.schemes = .digest
                policy.tunnelsAll = tunnels
                var request = Request(scene.origin.url("/\(tunnels)"))
                request.options.proxy = policy
                request.options.authentication.credential = Credential(user: "you", password: "word")
                request.options.authentication.allowsClearText = true
                let response = try await coordinator.send(request)
                #expect(response.bodyText == "welcome /\(tunnels)")
                #expect(response.metrics.map(\.status) == [407, 401, 200])
                #expect(response.authentication?.scheme == "Basic" && response.proxyAuthentication?.scheme == "Digest")
            }
            #expect(scene.origin.seen().allSatisfy { $0.fields["proxy-authorization"] == nil })
        }
    }

    @Test(
        "the command's options: --proxy-basic, --proxy-digest, --proxy-anyauth, and user and password where curl has them"
    )
    func command() async throws {
        let squid = try await SquidServer([.basic, .digest])
        defer { squid.stop() }
        try await withOrigin { origin in
            let url = origin.url("/anything")
            let place = squid.securedPlace
            let cases: [([String], Int32, Bool)] = [
                (["-x", place, "-U", "bob:builder"], 0, true),
                (["-x", place, "-U", "bob:builder", "--proxy-basic"], 0, true),
                (["-x", place, "-U", "bob:builder", "--proxy-digest"], 0, true),
                (["-x", place, "--proxy-user", "bob:builder", "--proxy-anyauth"], 0, true),
                (["-x", place, "--proxy-user", "bob:builder", "--proxy-anyauth", "-p"], 0, true),
                (["-x", "http://bob:builder@\(place)", "--proxy-digest", "-p"], 0, true),
                (["-x", place, "-U", "alice:wonder:land", "--proxy-basic"], 0, true),
                // Digest does not know her, and her password is not given away by Basic then.
                (["-x", place, "-U", "alice:wonder:land", "--proxy-digest", "-f"], 22, false),
                (["-x", place, "-U", "bob:plantedword", "-f"], 22, false),
                (["-x", place, "-U", "bob:plantedword", "-p"], 56, false),
                (["-x", place, "-p"], 56, false),
            ]
            for (arguments, status, isThere) in cases {
                let run = try CommandRun(["get"] + arguments + [url])
                #expect(run.status == status, "\(arguments): \(run.status) \(run.errors)")
                #expect(run.text.contains("\"method\"") == isThere, "\(arguments)")
                #expect(!run.errors.contains("planted") && !run.text.contains("proxy-authorization"))
            }
            let directory = try TemporaryDirectory()
            try directory.put("passphrase", Array("open sesame\n".utf8))
            let storage = ["--vault", directory.file("vault"), "--vault-passphrase-file", directory.file("passphrase")]
            let kept: [([String], Int32, String)] = [
                (["auth", "set", "--for-proxy", place, "-u", "bob:builder"] + storage, 0, ""),
                (["auth", "ls"] + storage, 0, "proxy http://\(place)  bob"),
                (["get", "-x", place] + storage + [url], 0, "\"method\""),
                (["auth", "rm", place] + storage, 1, ""), (["auth", "rm", "--for-proxy", place] + storage, 0, ""),
                (["get", "-f", "-x", place] + storage + [url], 22, ""),
                (["auth", "set", "--for-proxy", "socks5://\(place)", "-u", "bob:builder"] + storage, 2, ""),
            ]
            for (arguments, status, text) in kept {
                let run = try CommandRun(arguments)
                let isSaid = text.isEmpty || run.text.contains(text)
                #expect(run.status == status && isSaid, "\(arguments): \(run.status) \(run.errors)")
            }
            let lacking = try CommandRun(["get", "-x", place, "-U", "bob", url])
            #expect(
                lacking.status == 2 && lacking.errors.contains("--proxy-user"), "\(lacking.status) \(lacking.errors)")
        }
    }
}
