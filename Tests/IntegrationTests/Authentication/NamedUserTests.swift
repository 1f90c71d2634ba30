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

/// A program that says by hand who asks one origin, and follows all redirects.
private final class ByHandAt: FetchDecisions {
    let beginning: String

    init(_ beginning: String) { self.beginning = beginning }

    func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
        let (url, home) = (proposal.request.url, proposal.request.fields["X-Home"] ?? "")
        guard url.hasPrefix(beginning) else { return .follow }
        return .send(Request(url, fields: ["Authorization": "Bearer X", "X-Home": home]))
    }
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

    /// An origin that leads back to where a request says that it began.
    private static func leadingBack() throws -> ScriptedOrigin {
        try ScriptedOrigin { seen in ScriptedOrigin.Answer(302, "", [("Location", seen.fields["x-home"] ?? "")]) }
    }

    @Test(
        "a redirect away and back lets nobody in, neither as who is known there nor as who began",
        arguments: 0..<3, [false, true])
    func redirectedBack(round: Int, ownCache: Bool) async throws {
        let other = try Self.leadingBack()
        defer { other.stop() }
        let users = ["alice", "bob"]
        try await withScene(
            adjust: { if ownCache { $0.downloadCache = MemoryCache() } },
            answering: { seen in
                let away = ScriptedOrigin.Answer(302, "", [("Location", other.url("/"))])
                if seen.target == "/open" { return away }
                let said = seen.fields["authorization"]
                guard let user = users.first(where: { said == ChallengingOrigin.basic($0, "p") }) else {
                    return ChallengingOrigin.challenge()
                }
                return seen.target == "/closed" ? away : ScriptedOrigin.Answer(200, "the page of \(user)")
            }
        ) { scene, coordinator in
            let (known, user) = [("bob", "alice"), ("alice", "bob"), ("alice", "alice")][round]
            for target in ["/open", "/closed"] {
                let first = try await coordinator.get(scene.origin.url("/in"), [], Self.named(known, "p"))
                #expect(first.bodyText == "the page of \(known)")
                let response = try await coordinator.get(
                    scene.origin.url(target), [], fields: ["X-Home": scene.origin.url("/back")],
                    Self.named(user, "p"))
                #expect(response.status == 401 && response.redirects.count == 2, "\(target): \(response.bodyText)")
            }
            let said = scene.origin.seen("/back").map { $0.fields["authorization"] }
            #expect(said == [nil, nil])
            #expect(other.seen().count == 2 && other.seen().allSatisfy { $0.fields["authorization"] == nil })
        }
    }

    @Test(
        "at another port of its host a fetch is nobody else either; at another host it may be who is known there",
        arguments: [false, true])
    func redirectedElsewhere(ownCache: Bool) async throws {
        let other = try ScriptedOrigin(ChallengingOrigin.taking(ChallengingOrigin.basic("bob", "b")))
        defer { other.stop() }
        let places = ["/port": other.url("/page"), "/host": "http://two.test:\(other.port)/page"]
        try await withScene(
            adjust: { if ownCache { $0.downloadCache = MemoryCache() } },
            answering: { seen in ScriptedOrigin.Answer(302, "", [("Location", places[seen.target] ?? "")]) }
        ) { scene, coordinator in
            func status(_ url: String, _ user: String?) async throws -> Int {
                try await coordinator.get(url) {
                    Self.named(user ?? "", "b") { if user == nil { $0.credential = nil } }(&$0)
                    $0.transport.resolve = ["two.test:\(other.port):127.0.0.1"]
                }.status
            }
            for place in places.values {
                let known = try await status(place, "bob")
                #expect(known == 200)
            }
            for (target, user, expected) in [
                ("/port", "alice", 401), ("/port", nil, 200), ("/host", "alice", 200), ("/port", "bob", 401),
                ("/host", "bob", 200),
            ] as [(String, String?, Int)] {
                let found = try await status(scene.origin.url(target), user)
                #expect(found == expected, "\(target) by \(user ?? "nobody")")
            }
        }
    }

    /// An answer that is served stale, and validated meanwhile.
    private static func stale(to seen: ScriptedOrigin.Seen) -> ScriptedOrigin.Answer {
        page("open", "max-age=0, stale-while-revalidate=600", to: seen)
    }

    @Test("what is served stale behind a redirect is validated as who the fetch names, and as nobody else")
    func validatedBehindRedirect() async throws {
        try await withScene(answering: { seen in
            switch seen.target {
            case "/open": Self.stale(to: seen)
            case "/go": ScriptedOrigin.Answer(302, "", [("Location", "/open")])
            default: ChallengingOrigin.taking(ChallengingOrigin.basic("bob", "p"))(seen)
            }
        }) { scene, coordinator in
            _ = try await coordinator.get(scene.origin.url("/open"))
            let known = try await coordinator.get(scene.origin.url("/in"), [], Self.named("bob", "p"))
            #expect(known.status == 200)
            let response = try await coordinator.get(scene.origin.url("/go"), [], Self.named("alice", "p"))
            #expect(summary(response) == "stale 200 open")
            #expect(await eventually { scene.origin.seen("/open").count == 2 })
            #expect(scene.origin.seen("/open").map { $0.fields["authorization"] } == [nil, nil])
        }
    }

    @Test("what is served stale after a redirect away and back is validated without the credentials of its request")
    func validatedAfterReturn() async throws {
        let other = try Self.leadingBack()
        defer { other.stop() }
        let alice = ChallengingOrigin.basic("alice", "p")
        try await withScene(answering: { seen in
            seen.fields["authorization"] == alice
                ? ScriptedOrigin.Answer(302, "", [("Location", other.url("/"))]) : Self.stale(to: seen)
        }) { scene, coordinator in
            let url = scene.origin.url("/a")
            _ = try await coordinator.get(url)
            let response = try await coordinator.get(
                url, [], fields: ["X-Home": url], Self.named("alice", "p") { $0.schemes = .basic })
            #expect(summary(response) == "stale 200 open" && response.redirects.count == 2)
            #expect(await eventually { scene.count == 3 })
            #expect(scene.origin.seen().map { $0.fields["authorization"] } == [nil, alice, nil])
        }
    }

    @Test("who was somebody else by hand on the way is not who began, back there")
    func byHandOnTheWay() async throws {
        let other = try Self.leadingBack()
        defer { other.stop() }
        try await withScene(
            adjust: { $0.decisions = ByHandAt(other.url()) },
            answering: { seen in
                guard seen.fields["authorization"] == Self.right else { return ChallengingOrigin.challenge() }
                return seen.target == "/closed"
                    ? ScriptedOrigin.Answer(302, "", [("Location", other.url("/"))]) : ScriptedOrigin.Answer(200, "in")
            }
        ) { scene, coordinator in
            let response = try await coordinator.get(
                scene.origin.url("/closed"), [], fields: ["X-Home": scene.origin.url("/back")],
                Self.named("me", "pass") {
                    $0.usesSession = false
                    $0.asks = false
                })
            #expect(response.status == 401)
            #expect(scene.origin.seen("/back").map { $0.fields["authorization"] } == [nil])
            #expect(other.seen().map { $0.fields["authorization"] } == ["Bearer X"])
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
