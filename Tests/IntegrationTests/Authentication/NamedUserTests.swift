import Foundation
import Testing
import Trawl

/// A program that says the same to all who ask.
private final class Saying: FetchDecisions {
    let count = Locked(0)
    let credential: Credential

    init(_ credential: Credential) { self.credential = credential }

    func credentials(for challenge: AuthenticationChallenge) async -> CredentialDecision {
        count.withLock { $0 += 1 }
        return .use(credential)
    }
}

/// A vault with one credential for everybody.
private final class OneCredential: CredentialVault {
    let credential: Credential
    /// For whom it was asked.
    let users = Locked([String?]())

    init(_ credential: Credential) { self.credential = credential }

    func credential(for item: VaultItem) async -> Credential? {
        users.withLock { $0.append(item.user) }
        return credential
    }
    func save(_ credential: Credential, for item: VaultItem) async {}
    func remove(_ item: VaultItem) async {}
    func items() async -> [VaultItem] { [] }
}

@Suite("Nobody is let in as somebody else (ASI-AUTH-09)", .timeLimit(.minutes(2)))
struct NamedUserTests {
    private static let right = ChallengingOrigin.basic("me", "pass")

    private static func named(
        _ user: String, _ password: String, _ adjust: (inout RequestOptions.Authentication) -> Void = { _ in }
    ) -> (inout RequestOptions) -> Void {
        var authentication = RequestOptions.Authentication()
        authentication.credential = Credential(user: user, password: password)
        authentication.allowsClearText = true
        authentication.whenRefused = .delivers
        adjust(&authentication)
        return { [authentication] in $0.authentication = authentication }
    }

    @Test(
        "who gives a wrong password, or names another, is not given what another request proved",
        arguments: [#"Basic realm="here""#, #"Digest realm="here", nonce="n1", qop="auth""#])
    func session(challenge: String) async throws {
        let isBasic = challenge.hasPrefix("Basic")
        try await withScene(answering: { seen in
            guard let field = seen.fields["authorization"] else { return ChallengingOrigin.challenge(challenge) }
            let isMe = isBasic ? field == Self.right : ChallengingOrigin.parameter("username", of: field) == "me"
            return isMe ? ScriptedOrigin.Answer(200, "welcome") : ChallengingOrigin.challenge(challenge)
        }) { scene, coordinator in
            func get(_ user: String, _ password: String) async throws -> Int {
                Int(try await coordinator.get(scene.origin.url("/a"), [], Self.named(user, password)).status)
            }
            let first = try await get("me", "pass")
            #expect(first == 200)
            if isBasic {
                let mistyped = try await get("me", "no")
                #expect(mistyped == 401)
            }
            let other = try await get("other", "pass")
            #expect(other == 401)
            let again = try await get("me", "pass")
            #expect(again == 200)
            // By the URL too.
            let url = scene.origin.url("/a").replacingOccurrences(of: "//", with: "//other:pass@")
            let inURL = try await coordinator.get(url) {
                Self.named("x", "x") { $0.credential = nil }(&$0)
            }
            #expect(inURL.status == 401)
        }
    }

    @Test("netrc and vault answer for the user that is named, and for no other")
    func kept() async throws {
        let vault = OneCredential(Credential(user: "me", password: "pass"))
        try await withScene(adjust: { $0.vault = vault }, answering: ChallengingOrigin.taking(Self.right)) {
            scene, coordinator in
            try scene.directory.put("netrc", Array("machine 127.0.0.1 login me password pass\n".utf8))
            let netrc = scene.directory.file("netrc")
            for adjust: @Sendable (inout RequestOptions.Authentication) -> Void in [
                { $0.usesVault = true }, { $0.netrc = .file(netrc) },
            ] {
                for (user, status) in [("me", 200), ("other", 401)] {
                    let response = try await coordinator.get(
                        scene.origin.url("/a"), [],
                        Self.named(user, "no") {
                            adjust(&$0)
                            $0.usesSession = false
                        })
                    #expect(Int(response.status) == status, "\(user)")
                }
            }
            let users = vault.users.withLock { $0 }
            #expect(users == ["me", "other"])
        }
    }

    @Test("for a user in the URL without a password an empty one is tried last, and at once where nobody could know it")
    func emptyPassword() async throws {
        let empty = ChallengingOrigin.basic("me", "")
        for (user, usesVault, expected) in [
            ("me", true, [Self.right]), ("other", true, [empty]), ("me", false, [empty]),
        ] {
            let vault = OneCredential(Credential(user: user, password: "pass"))
            try await withScene(adjust: { $0.vault = vault }, answering: ChallengingOrigin.taking(Self.right)) {
                scene, coordinator in
                let url = scene.origin.url("/a").replacingOccurrences(of: "//", with: "//me@")
                let response = try await coordinator.get(url) {
                    Self.named("x", "x") {
                        $0.credential = nil
                        $0.usesVault = usesVault
                    }(&$0)
                }
                #expect(Int(response.status) == (expected == [empty] ? 401 : 200))
                #expect(scene.origin.seen().compactMap { $0.fields["authorization"] } == expected, "\(user)")
            }
        }
    }

    @Test("who is asked may say anything, and is asked once on behalf of whoever names the same")
    func asked() async throws {
        let saying = Saying(Credential(user: "me", password: "pass"))
        try await withScene(adjust: { $0.decisions = saying }, answering: ChallengingOrigin.taking(Self.right)) {
            scene, coordinator in
            for (password, questions) in [("no", 1), ("no", 1), ("nor", 2)] {
                let response = try await coordinator.get(
                    scene.origin.url("/a"), [], Self.named("other", password))
                #expect(response.status == 200)
                let count = saying.count.withLock { $0 }
                #expect(count == questions)
            }
        }
    }

    @Test("a proxy is not given what another request proved to it")
    func proxies() async throws {
        let proxy = try ChallengingProxy(ChallengingProxy.taking(Self.right))
        defer { proxy.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            var statuses: [Int] = []
            for (user, password) in [("me", "pass"), ("me", "no"), ("other", "pass"), ("me", "pass")] {
                var request = Request("http://origin.test/x")
                var policy = ProxyPolicy(try Proxy(proxy.place))
                policy.setUser(user, password: password)
                policy.sendsAhead = false
                request.options.proxy = policy
                request.options.authentication.whenRefused = .delivers
                statuses.append(Int(try await coordinator.send(request).status))
            }
            #expect(statuses == [200, 407, 407, 200])
        }
    }

    @Test("what worked is said by those that waited for their turn, and what is forgotten is not")
    func waiting() async throws {
        let gate = DispatchSemaphore(value: 0)
        let holds = Locked(true)
        let origin: @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer = { seen in
            if holds.withLock({ $0 }) { gate.wait() }
            return ChallengingOrigin.taking(Self.right)(seen)
        }
        try await withScene(workers: 1, adjust: { $0.connectionsPerHost = 1 }, answering: origin) {
            scene, coordinator in
            var request = Request(scene.origin.url("/first"))
            Self.named("me", "pass")(&request.options)
            func start(_ path: String) -> Fetch {
                request.url = scene.origin.url(path)
                return coordinator.start(request)
            }
            let fetches = (0..<20).map { start("/\($0)") }
            #expect(await eventually { scene.count == 1 })
            holds.withLock { $0 = false }
            gate.signal()
            for fetch in fetches {
                let response = try await fetch.response
                #expect(response.status == 200)
            }
            #expect(scene.count == 21)
            // What the session forgets meanwhile is not said either.
            holds.withLock { $0 = true }
            request.options.authentication.credential = nil
            let (holder, waiting) = (start("/hold"), start("/wait"))
            #expect(await eventually { scene.count == 22 })
            await coordinator.credentials.removeAll()
            holds.withLock { $0 = false }
            gate.signal()
            let (held, waited) = (try await holder.response, try await waiting.response)
            #expect(held.status == 200 && waited.status == 401)
        }
    }

    @Test("each step is told to who looks for a mistake, and nobody's name or password (ASI-AUTH-18)")
    func steps() async throws {
        let said = Locked([String]())
        let saying = Saying(Credential(user: "me", password: "pass"))
        try await withScene(
            adjust: {
                $0.decisions = saying
                $0.debugLog = DebugLog([.authentication]) { line in said.withLock { $0.append(line) } }
            }, answering: ChallengingOrigin.taking(Self.right, #"Basic realm="\#u{1B}[2J""#)
        ) { scene, coordinator in
            for _ in 0..<2 {
                _ = try await coordinator.get(scene.origin.url("/a"), [], Self.named("other", "hidden"))
            }
        }
        let lines = said.withLock { $0 }
        func has(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
        #expect(has(#": the server asks by Basic for "\u{1b}[2J""#), "\(lines)")
        #expect(has(#"tells the server by Basic for "\u{1b}[2J"; source: request"#))
        #expect(has("the server refuses, and asks by Basic") && has("asks the decision for the server, by Basic"))
        #expect(has("; source: decision") && has("before it asks; source: session"))
        #expect(has("the server does not ask again: status 200"))
        #expect(!has("hidden") && !has("other") && !has("pass") && !has(Self.right))
        #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 } })
    }
}
