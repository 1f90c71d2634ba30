import Foundation
import Testing
import Trawl
import TrawlPlatform

/// A vault with one credential for everybody.
private final class OneCredential: CredentialVault {
    let asked = Locked([VaultItem]())
    let saved = Locked([VaultItem]())
    let credential: Credential

    init(_ credential: Credential) { self.credential = credential }

    func credential(for item: VaultItem) async -> Credential? {
        asked.withLock { $0.append(item) }
        return credential
    }
    func save(_ credential: Credential, for item: VaultItem) async { saved.withLock { $0.append(item) } }
    func remove(_ item: VaultItem) async {}
    func items() async -> [VaultItem] { [] }
}

@Suite("Proxies that want to know who asks, ASI-PRX-02, ASI-PRX-03", .timeLimit(.minutes(2)))
struct ProxyAuthenticationTests {
    private static let right = ChallengingOrigin.basic("me", "pass")

    private func with(
        _ answer: @escaping @Sendable (ChallengingProxy.Seen) -> String,
        adjust: (inout Configuration) -> Void = { _ in },
        _ body: (ChallengingProxy, Coordinator) async throws -> Void
    ) async throws {
        let proxy = try ChallengingProxy(answer)
        defer { proxy.stop() }
        try await withTestCoordinator(workers: 1, adjust: adjust) { try await body(proxy, $0) }
    }

    /// A GET through a proxy; with `tunnels` even `http` URLs go through CONNECT.
    private func request(
        _ proxy: ChallengingProxy, _ url: String = "http://origin.test/x", user: String? = nil, password: String = "",
        tunnels: Bool = false, _ adjust: (inout ProxyPolicy) -> Void = { _ in }
    ) throws -> Request {
        var request = Request(url)
        var policy = ProxyPolicy(try Proxy(proxy.place))
        if let user { policy.setUser(user, password: password) }
        policy.tunnelsAll = tunnels
        adjust(&policy)
        request.options.proxy = policy
        return request
    }

    private func credentials(_ proxy: ChallengingProxy) -> [String?] {
        proxy.seen().filter { !$0.isInTunnel }.map(\.credentials)
    }

    @Test("whom a proxy took a fetch for is told through a cache of the program's own, too")
    func ownCache() async throws {
        let cache = MemoryCache()
        try await with(ChallengingProxy.taking(Self.right)) {
            $0.downloadCache = cache
        } _: { proxy, coordinator in
            let response = try await coordinator.send(
                try request(proxy, user: "me", password: "pass") { $0.schemes = .basic })
            #expect(response.status == 200 && response.proxyAuthentication?.scheme == "Basic")
            #expect(cache.calls > 0)
        }
    }

    @Test("user and password go ahead by Basic, or when they are asked for (ASI-AUTH-19)", arguments: [false, true])
    func basic(tunnels: Bool) async throws {
        try await with(ChallengingProxy.taking(Self.right)) { proxy, coordinator in
            let ahead = try await coordinator.send(
                try request(proxy, user: "me", password: "pass", tunnels: tunnels) { $0.schemes = .basic })
            #expect(ahead.status == 200 && ahead.bodyText == "there" && ahead.proxyAuthentication?.isAhead == true)
            #expect(credentials(proxy) == [Self.right])
        }
        try await with(ChallengingProxy.taking(Self.right)) { proxy, coordinator in
            func anyAuth(_ target: String) async throws -> Response {
                var request = try request(
                    proxy, "http://origin.test\(target)", user: "me", password: "pass", tunnels: tunnels
                ) { $0.sendsAhead = false }
                request.options.reusesConnection = false
                return try await coordinator.send(request)
            }
            let asked = try await anyAuth("/a")
            #expect(asked.status == 200 && asked.proxyAuthentication?.rounds == 1)
            #expect(asked.proxyAuthentication?.realm == "den" && asked.proxyAuthentication?.source == .request)
            #expect(asked.metrics.map(\.status) == [407, 200])
            // What worked goes ahead, for any origin behind the proxy.
            let known = try await anyAuth("/b")
            #expect(known.status == 200 && known.metrics.count == 1 && known.proxyAuthentication?.source == .session)
            #expect(credentials(proxy) == [nil, Self.right, Self.right])
            // No origin saw any of it.
            #expect(proxy.seen().filter(\.isInTunnel).allSatisfy { $0.credentials == nil })
        }
    }

    @Test(
        "a proxy that a script names is told a password when it asks for it, and not before",
        arguments: [RequestOptions.Authentication.Schemes.basic, [.basic, .digest]])
    func named(schemes: RequestOptions.Authentication.Schemes) async throws {
        let directory = try TemporaryDirectory()
        try await with(ChallengingProxy.taking(Self.right)) { proxy, coordinator in
            let script = "function FindProxyForURL() { return 'PROXY \(proxy.place)'; }"
            try directory.put("p.pac", Array(script.utf8))
            var policy = ProxyPolicy(script: directory.file("p.pac"))
            policy.setUser("me", password: "pass")
            policy.schemes = schemes
            for (target, statuses) in [("/a", [407, 200]), ("/b", [200])] {
                var request = Request("http://origin.test\(target)")
                request.options.proxy = policy
                let response = try await coordinator.send(request)
                #expect(response.metrics.map(\.status) == statuses)
            }
            // What worked goes ahead from then on.
            #expect(credentials(proxy) == [nil, Self.right, Self.right])
        }
    }

    @Test("Digest proves the request as the proxy gets it (RFC 7616 §3.4.6)", arguments: [false, true])
    func digest(tunnels: Bool) async throws {
        try await with(ChallengingProxy.digest) { proxy, coordinator in
            var wanted = try request(
                proxy, "http://origin.test:8080/a?b=c", user: "me", password: "pass", tunnels: tunnels)
            wanted.options.reusesConnection = false
            // Basic went ahead, and was not what the proxy wants.
            let first = try await coordinator.send(wanted)
            #expect(first.status == 200 && first.proxyAuthentication?.scheme == "Digest")
            #expect(first.proxyAuthentication?.failures == 0)
            let second = try await coordinator.send(wanted)
            #expect(second.status == 200 && second.metrics.count == 1)
            let said = credentials(proxy)
            #expect(said.count == 3 && said[0] == Self.right, "\(said)")
            let proofs = said.dropFirst().compactMap { $0 }
            #expect(proofs.allSatisfy { $0.hasPrefix("Digest ") })
            let place = tunnels ? "origin.test:8080" : "http://origin.test:8080/a?b=c"
            #expect(proofs.map { ChallengingOrigin.parameter("uri", of: $0) } == [place, place])
            #expect(proofs.map { ChallengingOrigin.parameter("nc", of: $0) } == ["00000001", "00000002"])
            // Where Basic is not allowed the password never goes out.
            let before = proxy.seen().count
            wanted.options.proxy?.schemes = .digest
            wanted.options.proxy?.setUser("other", password: "pass")
            wanted.options.authentication.usesSession = false
            let found1 = try await coordinator.send(wanted).status
            #expect(found1 == 200)
            #expect(credentials(proxy).dropFirst(before).contains { $0?.hasPrefix("Basic") == true } == false)
        }
    }

    @Test("a tunnel to elsewhere than the URL says is proved as such")
    func routed() async throws {
        try await with(ChallengingProxy.digest) { proxy, coordinator in
            var wanted = try request(proxy, user: "me", password: "pass")
            wanted.options.transport.connectTo = ["origin.test:80:elsewhere.test:81"]
            let found2 = try await coordinator.send(wanted).status
            #expect(found2 == 200)
            let proof = try #require(proxy.seen().last { !$0.isInTunnel }?.credentials)
            #expect(ChallengingOrigin.parameter("uri", of: proof) == "elsewhere.test:81")
        }
    }

    @Test(
        "what the proxy does not take fails in time, and is in no error",
        arguments: [
            #"Basic realm="den""#, #"Digest realm="den", nonce="n", qop="auth""#, "Unknown x", "Negotiate, NTLM",
        ],
        [false, true])
    func refused(challenge: String, tunnels: Bool) async throws {
        try await with({ _ in ChallengingProxy.wants(challenge) }) { proxy, coordinator in
            let wanted = try request(proxy, user: "planteduser", password: "plantedword", tunnels: tunnels)
            let error = await failure(.proxyAuthentication) { try await coordinator.send(wanted) }
            #expect(error.map { "\($0)".contains("planted") } == false)
            #expect(error?.detail.contains(proxy.place) == true && error?.legacyCode == 3)
            #expect(error?.urlErrorCode == -1013 && error?.isRetryable == false)
            #expect(proxy.seen().count <= 2)
            // To who wants it the challenge is the answer, as far as it can be one.
            var delivered = wanted
            delivered.options.authentication.whenRefused = .delivers
            if tunnels {
                let error = await failure(.proxy) { try await coordinator.send(delivered) }
                #expect(error?.cause == .curl(56))
            } else {
                let response = try await coordinator.send(delivered)
                #expect(response.status == 407 && response.bodyText == "who?")
            }
        }
    }

    @Test("nonces that are always too old end, and so do questions", arguments: [false, true])
    func endless(tunnels: Bool) async throws {
        let count = Guarded(0)
        try await with({ _ in
            let number = count.withLock { value -> Int in
                value += 1
                return value
            }
            return ChallengingProxy.wants(#"Digest realm="den", nonce="n\#(number)", qop="auth", stale=true"#)
        }) { proxy, coordinator in
            await failure(.proxyAuthentication) {
                try await coordinator.send(try request(proxy, user: "me", password: "pass", tunnels: tunnels))
            }
            #expect((2...21).contains(proxy.seen().count), "\(proxy.seen().count)")
        }
        let answering = Answering { .use(Credential(user: "me", password: "no\($0.previousFailures)")) }
        try await with(
            { _ in ChallengingProxy.wants(#"Basic realm="den""#) }, adjust: { $0.decisions = answering }
        ) { proxy, coordinator in
            await failure(.proxyAuthentication) {
                try await coordinator.send(try request(proxy, tunnels: tunnels))
            }
            #expect(answering.challenges.map(\.previousFailures) == [0, 1, 2, 3, 4] && proxy.seen().count == 6)
        }
    }

    @Test("the program is asked, told that a proxy asks, and asked once", arguments: [false, true])
    func decision(tunnels: Bool) async throws {
        let answering = Answering { _ in .use(Credential(user: "me", password: "pass")) }
        try await with(ChallengingProxy.taking(Self.right), adjust: { $0.decisions = answering }) {
            proxy, coordinator in
            for target in ["/one", "/two"] {
                let response = try await coordinator.send(
                    try request(proxy, "http://origin.test\(target)", tunnels: tunnels))
                #expect(response.status == 200)
            }
            let challenge = try #require(answering.challenges.first)
            #expect(answering.challenges.count == 1 && challenge.isProxy && challenge.realm == "den")
            #expect("\(challenge.host):\(challenge.port)" == proxy.place && challenge.scheme == "http")
            #expect(challenge.response.status == 407 && !challenge.isSecure)
            let items = await coordinator.credentials.list()
            #expect(items.map(\.space.isProxy) == [true] && items.first?.user == "me")
        }
        let stopping = Answering { _ in .cancel }
        try await with(ChallengingProxy.taking(Self.right), adjust: { $0.decisions = stopping }) { proxy, coordinator in
            await failure(.authenticationCancelled) {
                try await coordinator.send(try request(proxy, tunnels: tunnels))
            }
        }
    }

    @Test("a refused password makes room for what the program says, and the session learns it")
    func refusedThenAsked() async throws {
        let answering = Answering { _ in .use(Credential(user: "me", password: "pass")) }
        try await with(ChallengingProxy.taking(Self.right), adjust: { $0.decisions = answering }) {
            proxy, coordinator in
            let response = try await coordinator.send(try request(proxy, user: "me", password: "wrong"))
            #expect(response.status == 200 && response.proxyAuthentication?.source == .decision)
            #expect(response.proxyAuthentication?.failures == 1 && answering.challenges.map(\.previousFailures) == [1])
            let found3 = try await coordinator.send(try request(proxy)).metrics.count
            #expect(found3 == 1)
            // Another proxy is told nothing of it.
            let other = try ChallengingProxy(ChallengingProxy.taking("nothing"))
            defer { other.stop() }
            var wanted = try request(other)
            wanted.options.authentication.asks = false
            let found4 = try await coordinator.send(wanted).status
            #expect(found4 == 407)
            #expect(other.seen().allSatisfy { $0.credentials == nil })
        }
    }

    @Test("the vault is asked for proxies without being named, and given what is to stay (ASI-AUTH-11)")
    func vault() async throws {
        let vault = OneCredential(Credential(user: "me", password: "pass"))
        try await with(ChallengingProxy.taking(Self.right), adjust: { $0.vault = vault }) { proxy, coordinator in
            let response = try await coordinator.send(try request(proxy))
            #expect(response.status == 200 && response.proxyAuthentication?.source == .vault)
            let port = try #require(Int(proxy.place.split(separator: ":")[1]))
            #expect(
                vault.asked.withLock { $0 } == [
                    VaultItem(scheme: "http", host: "127.0.0.1", port: port, realm: "den", isProxy: true)
                ])
        }
        let empty = OneCredential(Credential(user: "not", password: "this"))
        let answering = Answering { _ in .use(Credential(user: "me", password: "pass", persistence: .permanent)) }
        try await with(
            ChallengingProxy.taking(Self.right),
            adjust: {
                $0.vault = empty
                $0.decisions = answering
            }
        ) { proxy, coordinator in
            let response = try await coordinator.send(try request(proxy))
            #expect(response.status == 200 && answering.challenges.count == 1)
            let isSaved = await eventually { empty.saved.withLock { $0.map(\.isProxy) == [true] } }
            #expect(isSaved)
        }
    }

    @Test("a 407 that is no proxy's word is a response: out of a tunnel, and without a proxy")
    func strangers() async throws {
        let answering = Answering { _ in .use(Credential(user: "me", password: "pass")) }
        try await with(
            { seen in
                seen.method == "CONNECT" && seen.credentials == Self.right
                    ? ChallengingProxy.lets(seen) : ChallengingProxy.wants(#"Basic realm="trap""#)
            }, adjust: { $0.decisions = answering }
        ) { proxy, coordinator in
            let response = try await coordinator.send(
                try request(proxy, user: "me", password: "pass", tunnels: true))
            #expect(response.status == 407 && response.bodyText == "who?" && answering.challenges.isEmpty)
            #expect(proxy.seen().map(\.isInTunnel) == [false, true])
            // The tunnel was granted all the same.
            let known = await coordinator.credentials.list()
            #expect(known.count == 1)
            var direct = Request("http://\(proxy.place)/")
            direct.options.proxy = .direct
            let found5 = try await coordinator.send(direct).status
            #expect(found5 == 407)
            #expect(answering.challenges.isEmpty && proxy.seen().last?.credentials == nil)
        }
    }

    @Test(
        "cookies of a 407 are taken where the server says it, in the store and in memory, and not where the proxy does",
        arguments: Engine.allCases)
    func cookies(engine: Engine) async throws {
        let proxy = try ChallengingProxy { seen in
            seen.method == "CONNECT"
                ? ChallengingProxy.lets(seen)
                : ChallengingProxy.wants(#"Basic realm="den""#, ["Set-Cookie: a=1; Max-Age=600"])
        }
        defer { proxy.stop() }
        var direct = Request("http://\(proxy.place)/x")
        direct.options.proxy = .direct
        let ways: [(name: String, request: Request, expected: [String])] = [
            ("direct", direct, ["a"]), ("proxied", try request(proxy), []),
            ("tunnelled", try request(proxy, tunnels: true), ["a"]),
        ]
        let store = try TemporaryDirectory()
        try await withTestCoordinator(
            workers: engine.workers, adjust: { $0.store = .directory(store.file("store")) }
        ) { coordinator in
            for (name, way, expected) in ways {
                // The second one may find a tunnel that is there already.
                for jar in [RequestOptions.Cookies.Jar.named(name), .memory(name)] {
                    var asked = way
                    asked.options.cookies.jar = jar
                    let response = try await coordinator.send(asked)
                    #expect(response.status == 407)
                    #expect(try coordinator.cookies(in: jar).cookies().map(\.name) == expected, "\(name) \(jar)")
                }
            }
        }
    }

    @Test("what is said by hand is left alone, and a challenge to it is the answer")
    func byHand() async throws {
        let answering = Answering { _ in .use(Credential(user: "me", password: "pass")) }
        try await with(ChallengingProxy.taking(Self.right), adjust: { $0.decisions = answering }) {
            proxy, coordinator in
            var own = try request(proxy, user: "me", password: "pass")
            own.fields.add("Proxy-Authorization", "Own words")
            let found6 = try await coordinator.send(own).status
            #expect(found6 == 407)
            var header = try request(proxy, user: "me", password: "pass")
            header.options.proxy?.fields.add("Proxy-Authorization", "Other words")
            let found7 = try await coordinator.send(header).status
            #expect(found7 == 407)
            #expect(credentials(proxy) == ["Own words", "Other words"] && answering.challenges.isEmpty)
        }
    }

    @Test("proxy and server on one fetch, whichever asks first (ASI-PRX-03)", arguments: [false, true])
    func both(serverFirst: Bool) async throws {
        let field = ChallengingOrigin.basic("you", "word")
        try await with({ seen in
            let isServed = seen.fields["authorization"] == field
            let isProxied = seen.isInTunnel || seen.credentials == Self.right
            let server = ChallengingProxy.answer(401, "whom?", [#"WWW-Authenticate: Basic realm="site""#])
            if serverFirst {
                return !isServed
                    ? server : isProxied ? ChallengingProxy.lets(seen) : ChallengingProxy.wants(#"Basic realm="den""#)
            }
            return !isProxied
                ? ChallengingProxy.wants(#"Basic realm="den""#) : isServed ? ChallengingProxy.lets(seen) : server
        }) { proxy, coordinator in
            var wanted = try request(proxy, user: "me", password: "pass") { $0.sendsAhead = false }
            wanted.options.authentication.credential = Credential(user: "you", password: "word")
            wanted.options.authentication.allowsClearText = true
            wanted.method = .post
            wanted.body = .text("the body")
            let response = try await coordinator.send(wanted)
            #expect(
                response.status == 200
                    && response.metrics.map(\.status) == (serverFirst ? [401, 407, 200] : [407, 401, 200]))
            #expect(response.authentication?.rounds == 1 && response.proxyAuthentication?.rounds == 1)
            #expect(proxy.seen().map(\.body) == ["the body", "the body", "the body"])
            // Neither got the other's.
            for seen in proxy.seen() {
                #expect(
                    [nil, field].contains(seen.fields["authorization"]) && [nil, Self.right].contains(seen.credentials))
            }
            let again = try await coordinator.send(wanted)
            #expect(again.status == 200 && again.metrics.count == 1)
        }
    }

    @Test("each count of a nonce is said once, by many fetches at a time")
    func counts() async throws {
        try await with(ChallengingProxy.digest) { proxy, coordinator in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<40 {
                    let wanted = try request(
                        proxy, "http://origin.test/\(number)", user: "me", password: "pass"
                    ) { $0.sendsAhead = false }
                    group.addTask { try await coordinator.send(wanted).status }
                }
                for try await status in group { #expect(status == 200) }
            }
            let counts = credentials(proxy).compactMap { $0.flatMap { ChallengingOrigin.parameter("nc", of: $0) } }
            #expect(counts.count == 40 && Set(counts).count == 40)
        }
    }

    @Test("what refuses a tunnel says nothing in the origin's name: neither cookies nor secure transport")
    func refusalOfTunnel() async throws {
        try await with({ seen in
            seen.method == "CONNECT"
                ? ChallengingProxy.wants(
                    #"Basic realm="den""#, ["Strict-Transport-Security: max-age=600", "Set-Cookie: a=b"])
                : ChallengingProxy.lets(seen)
        }) { proxy, coordinator in
            await failure(.proxy) { try await coordinator.send(try request(proxy, "https://origin.test/")) }
            #expect(coordinator.secureHosts.isEmpty)
            let found8 = try await coordinator.send(try request(proxy)).status
            #expect(found8 == 200)
            #expect(proxy.seen().last?.fields["cookie"] == nil)
        }
    }

    @Test("no proxy is told who asks by Bearer")
    func schemes() async throws {
        try await with({ ChallengingProxy.lets($0) }) { proxy, coordinator in
            for schemes in [RequestOptions.Authentication.Schemes.bearer, [.basic, .bearer]] {
                await failure(.badRequest) {
                    try await coordinator.send(try request(proxy) { $0.schemes = schemes })
                }
            }
            #expect(proxy.seen().isEmpty)
        }
    }
}
