import Foundation
import Testing
import Trawl

@Suite(
    "Proxies that want NTLM, ASI-AUTH-06, ASI-PRX-03", .enabled(if: NTLMServer.canRun, NTLMServer.missing),
    .timeLimit(.minutes(2)))
struct ProxyLoginTests {
    private struct Scene {
        let proxy: NTLMServer
        let server: NTLMServer

        init() throws {
            let users = [("DOM", "ann", "secret-a"), ("DOM", "bob", "secret-b")]
            proxy = try NTLMServer(users, as: .proxy)
            server = try NTLMServer(users)
        }

        func stop() {
            proxy.stop()
            server.stop()
        }

        /// A request through the proxy, as somebody whose password is the usual one.
        func request(
            _ target: String, as user: String?, password: String? = nil, tunnels: Bool,
            _ adjust: (inout ProxyPolicy) -> Void = { _ in }
        ) throws -> Request {
            var request = Request(server.url(target))
            var policy = ProxyPolicy(try Proxy(proxy.place))
            policy.schemes = .ntlm
            policy.tunnelsAll = tunnels
            if let user { policy.setUser("DOM\\\(user)", password: password ?? "secret-\(user.prefix(1))") }
            adjust(&policy)
            request.options.proxy = policy
            return request
        }
    }

    private func with(
        _ engine: Engine = .workers, workers: Int? = nil, _ body: (Scene, Coordinator) async throws -> Void
    ) async throws {
        let scene = try Scene()
        defer { scene.stop() }
        try await withTestCoordinator(workers: workers ?? engine.workers) { try await body(scene, $0) }
    }

    @Test("the exchange is one hop, with CONNECT and without, and a body goes along", arguments: [false, true])
    func exchange(tunnels: Bool) async throws {
        for engine in Engine.allCases {
            try await with(engine) { scene, coordinator in
                let response = try await coordinator.send(try scene.request("/open", as: "ann", tunnels: tunnels))
                #expect(response.status == 200 && response.bodyText.hasPrefix("- "), "\(response.bodyText)")
                #expect(response.metrics.map(\.status) == [407, 200])
                #expect(response.proxyAuthentication?.scheme == "NTLM" && response.authentication == nil)
                var post = try scene.request("/open", as: "ann", tunnels: tunnels)
                post.method = .post
                post.body = .bytes([UInt8](repeating: 1, count: 100_000))
                let posted = try await coordinator.send(post)
                #expect(posted.status == 200)
                let log = try scene.proxy.log()
                #expect(log.count == 2 && log.allSatisfy { $0[1].hasSuffix("ann") }, "\(log)")
            }
        }
    }

    @Test("wrong passwords fail, and nobody uses NTLM who was not told to", arguments: [false, true])
    func refused(tunnels: Bool) async throws {
        try await with { scene, coordinator in
            for request in [
                try scene.request("/open", as: "ann", password: "wrong", tunnels: tunnels),
                try scene.request("/open", as: "ann", tunnels: tunnels) { $0.schemes = [.basic, .digest] },
            ] {
                let error = await #expect(throws: FetchError.self) { try await coordinator.send(request) }
                #expect(error?.code == .proxyAuthentication)
            }
            let log = try scene.proxy.log()
            #expect(log.isEmpty, "\(log)")
        }
    }

    @Test("the server asks too: by Basic, and by NTLM of its own", arguments: [false, true])
    func bothSides(tunnels: Bool) async throws {
        try await with(workers: 1) { scene, coordinator in
            var basic = try scene.request("/basic", as: "ann", tunnels: tunnels)
            basic.options.authentication.credential = Credential(user: "me", password: "pass")
            basic.options.authentication.allowsClearText = true
            let first = try await coordinator.send(basic)
            #expect(first.status == 200 && first.metrics.map(\.status) == [407, 401, 200])
            #expect(first.proxyAuthentication?.scheme == "NTLM" && first.authentication?.scheme == "Basic")
            // Another user at the server than at the proxy.
            var ntlm = try scene.request("/x", as: "ann", tunnels: tunnels)
            ntlm.options.authentication.credential = Credential(user: "bob", password: "secret-b", domain: "DOM")
            ntlm.options.authentication.schemes = .ntlm
            for _ in 0..<3 {
                let second = try await coordinator.send(ntlm)
                #expect(second.status == 200 && second.bodyText.contains("bob"), "\(second.bodyText)")
                #expect(second.proxyAuthentication?.scheme == "NTLM" && second.authentication?.scheme == "NTLM")
            }
            let log = try scene.proxy.log()
            #expect(log.allSatisfy { $0[1].hasSuffix("ann") }, "\(log)")
        }
    }

    @Test("no connection of one user is another's, nor anybody's afterwards", arguments: [false, true])
    func connections(tunnels: Bool) async throws {
        try await with(workers: 1) { scene, coordinator in
            try await withThrowingTaskGroup(of: (String, Result<String, any Error>).self) { group in
                for number in 0..<90 {
                    let user = ["ann", "bob", "-"][number % 3]
                    let request = try scene.request(
                        "/open/\(user)", as: user == "-" ? nil : user, tunnels: tunnels
                    ) { $0.schemes = user == "-" ? [.basic] : .ntlm }
                    group.addTask {
                        do {
                            return (user, .success(try await coordinator.send(request).bodyText))
                        } catch {
                            return (user, .failure(error))
                        }
                    }
                }
                var connections: Set<Substring> = []
                var count = 0
                for try await (user, result) in group {
                    switch result {
                    case .success where user == "-":
                        // A 407 that nobody answers is a response.
                        break
                    case .success(let text):
                        count += 1
                        if tunnels { connections.insert(text.split(separator: " ")[1]) }
                    case .failure(let error):
                        #expect(user == "-", "\(user): \(error)")
                    }
                }
                #expect(count == 60)
                // Each tunnel was one request's.
                if tunnels { #expect(connections.count == 60) }
            }
            var owners: [String: Set<String>] = [:]
            let log = try scene.proxy.log()
            for entry in log {
                owners[entry[0], default: []].insert(entry[1])
                if !tunnels { #expect(entry[3].hasSuffix(entry[1].suffix(3)), "\(entry)") }
            }
            #expect(log.count == 60 && owners.count == 60 && owners.values.allSatisfy { $0.count == 1 })
        }
    }

    @Test("the command: --proxy-ntlm")
    func command() throws {
        let scene = try Scene()
        defer { scene.stop() }
        let arguments = ["-x", scene.proxy.place, "-U", "DOM\\ann:secret-a", scene.server.url("/open")]
        for tunnel in [[], ["-p"]] {
            let run = try CommandRun(["--proxy-ntlm"] + tunnel + arguments)
            #expect(run.status == 0 && run.text.hasPrefix("- "), "\(run.text) \(run.errors)")
        }
        let other = try CommandRun(["-f", "--proxy-digest"] + arguments)
        #expect(other.status == 22 && !other.errors.contains("secret"), "\(other.errors)")
    }
}

@Suite("Exchanges that do not end", .timeLimit(.minutes(3)))
struct EndlessExchangeTests {
    /// A challenge of NTLM as short as it can be: no target, no flags but text in UTF-16.
    private static let challenge: String = {
        var message = Array("NTLMSSP".utf8) + [0, 2, 0, 0, 0]
        message += [0, 0, 0, 0, 32, 0, 0, 0]
        message += [1, 0x82, 0, 0] + Array("12345678".utf8)
        return "NTLM " + Data(message).base64EncodedString()
    }()

    @Test("a server that goes on with NTLM for ever is given up")
    func server() async throws {
        try await withScene(answering: { _ in
            ScriptedOrigin.Answer(401, "more", [("WWW-Authenticate", Self.challenge)])
        }) { scene, coordinator in
            var request = Request(scene.origin.url("/x"))
            request.options.authentication.credential = Credential(user: "me", password: "pass")
            request.options.authentication.schemes = .ntlm
            let error = await #expect(throws: FetchError.self) { try await coordinator.send(request) }
            #expect(error?.code == .authentication, "\(String(describing: error))")
            #expect(scene.count <= 12, "\(scene.count)")
        }
    }

    @Test("a 407 out of a tunnel has no part in the proxy's exchange", arguments: ["NTLM", "token"])
    func tunnel(kind: String) async throws {
        let proxy = try ChallengingProxy { seen in
            if seen.isInTunnel { return ChallengingProxy.wants(kind == "NTLM" ? "NTLM" : Self.challenge) }
            guard let said = seen.credentials else { return ChallengingProxy.wants("NTLM") }
            // Its first message, and its last.
            if said.hasPrefix("NTLM TlRMTVNTUAAB") { return ChallengingProxy.wants(Self.challenge) }
            return ChallengingProxy.lets(seen)
        }
        defer { proxy.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            var request = Request("http://origin.test/x")
            var policy = ProxyPolicy(try Proxy(proxy.place))
            policy.setUser("me", password: "pass")
            policy.schemes = .ntlm
            policy.tunnelsAll = true
            request.options.proxy = policy
            let response = try await coordinator.send(request)
            #expect(response.status == 407)
            let inside = proxy.seen().filter(\.isInTunnel)
            #expect((1...2).contains(inside.count) && inside.allSatisfy { $0.credentials == nil }, "\(inside)")
        }
    }
}

@Suite(
    "Proxies that want Negotiate, ASI-AUTH-07",
    .enabled(
        if: KerberosRealm.canRun && SquidServer.canRun && SquidServer.negotiator != nil, KerberosRealm.missing),
    .timeLimit(.minutes(2)))
struct ProxyTicketTests {
    @Test("a ticket is enough, with CONNECT and without, and without one there is nothing to say")
    func tickets() async throws {
        let realm = try await KerberosRealm(users: ["ann"])
        defer { realm.stop() }
        let squid = try await SquidServer(realm: realm)
        defer { squid.stop() }
        try await withScene(answering: { _ in ScriptedOrigin.Answer(200, "there") }) { scene in
            func request(tunnels: Bool) throws -> Request {
                var request = Request(scene.origin.url("/x"))
                // The ticket is for a name.
                var policy = ProxyPolicy(try Proxy("localhost:\(squid.securedPort)"))
                policy.useTicket()
                policy.schemes = .negotiate
                policy.tunnelsAll = tunnels
                request.options.proxy = policy
                return request
            }
            let environment = try await realm.ticket(for: "ann") + ["PATH=/usr/bin:/bin"]
            try await withTestCoordinator(adjust: { $0.workerEnvironment = environment }) { coordinator in
                for tunnels in [false, true] {
                    let response = try await coordinator.send(try request(tunnels: tunnels))
                    #expect(response.status == 200 && response.bodyText == "there", "\(response.status)")
                    #expect(response.proxyAuthentication?.scheme == "Negotiate" && response.metrics.count == 2)
                }
            }
            let isLogged = await squid.hasLogged(1) { $0.hasPrefix("GET") && $0.contains("ann") && $0.hasSuffix("200") }
            #expect(isLogged, "\(squid.log())")
            let run = try CommandRun(
                [
                    "--proxy-negotiate", "-U", ":", "-x", "localhost:\(squid.securedPort)", scene.origin.url("/y"),
                ],
                environment: Dictionary(
                    environment.map { ($0.prefix { $0 != "=" }, $0.drop { $0 != "=" }.dropFirst()) }
                        .map { (String($0), String($1)) }, uniquingKeysWith: { $1 }))
            #expect(run.status == 0 && run.text == "there", "\(run.errors)")
            let count = scene.count
            let none = realm.environment + ["PATH=/usr/bin:/bin", "KRB5CCNAME=FILE:\(realm.directory.file("none"))"]
            try await withTestCoordinator(adjust: { $0.workerEnvironment = none }) { coordinator in
                for tunnels in [false, true] {
                    let wanted = try request(tunnels: tunnels)
                    let error = await #expect(throws: FetchError.self) { try await coordinator.send(wanted) }
                    #expect(error?.code == .proxyAuthentication, "\(String(describing: error))")
                }
            }
            #expect(scene.count == count)
        }
    }
}
