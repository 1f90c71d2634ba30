import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Credentials, Basic and Bearer, ASI-AUTH-04")
struct CredentialsTests {
    private static let secret = "hunter2-hunter2"

    @Test("nothing that prints a value shows a secret")
    func redacted() throws {
        let password = Credentials(user: "user-name", password: Self.secret, domain: "domain-name")
        let token = Credentials(bearer: Self.secret)
        let challenge = try DigestChallenge(text: #"Digest realm="r", nonce="n", qop="auth""#)
        var session = try DigestSession(
            challenge, password, random: (1, 2), hashes: .all)
        let proof = try session.prove(DigestRequest(method: .get, target: "/".raw))
        let entry = SessionEntry(
            space: ProtectionSpace(side: .server, origin: plainOrigin, scheme: .basic, realm: nil),
            credentials: password, scope: nil)
        var search = CredentialSearch(
            side: .server, policy: SearchPolicy(), home: secureOrigin, explicit: token, url: password)
        let ahead = search.began(.at("/"), at: secureOrigin, entries: [])
        let netrc = try Array("machine a login user-name password \(Self.secret)".utf8).withUnsafeBytes {
            try NetrcParser.parse($0)
        }
        var broker = AuthenticationBroker<ProtectionSpace, Int>()
        _ = broker.ask(entry.space, by: 1)
        let turn = broker.told(password, for: entry.space, to: 1)
        let values: [Any] = [
            Secret(Self.secret), password, token, password.kind, token.kind, session, proof, entry, search, netrc,
            ahead as Any, [password], ["k": token], CredentialSearch.Answer.use(password), broker, turn,
            CredentialSearch.Acceptance.keep(entry, permanently: true),
        ]
        let key = "dc9b97c8"  // of H(user-name:r:hunter2-hunter2), MD5
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(describing: value), String(reflecting: value), dumped] {
                #expect(!text.contains("hunter2"), "\(type(of: value))")
                #expect(!text.contains(key), "\(type(of: value))")
                if !(value is Netrc) { #expect(!text.contains("user-name"), "\(type(of: value))") }
                #expect(!text.contains("domain-name"), "\(type(of: value))")
            }
        }
        #expect("\(password) \(token) \(Credentials(.ticket))" == "user and password bearer token ticket")
        #expect("\(Secret("x"))" == "(secret)")
    }

    @Test("users and secrets are the same byte for byte, and not when an accent is written in another way")
    func exact() {
        let (one, other) = ("\u{E9}", "e\u{301}")
        #expect(one == other, "to Unicode they are one text")
        #expect(Secret(one) != Secret(other) && Secret(one) == Secret(one))
        let all = [
            Credentials(user: one, password: "p"), Credentials(user: other, password: "p"),
            Credentials(user: "u", password: one), Credentials(user: "u", password: other),
            Credentials(user: "u", password: "p", domain: one), Credentials(user: "u", password: "p", domain: other),
            Credentials(bearer: one), Credentials(bearer: other), Credentials(.ticket),
        ]
        #expect(Set(all.map(\.kind)).count == all.count)
        for (place, credentials) in all.enumerated() {
            #expect(all.indices.filter { all[$0].provesSame(as: credentials) } == [place])
        }
    }

    @Test(
        "Basic is the Base64 of user and password in UTF-8, RFC 7617",
        arguments: [
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
            ("", "", "Basic Og=="), ("a", "", "Basic YTo="), ("a", "b", "Basic YTpi"), ("", "x:y:z", "Basic Ong6eTp6"),
            ("☕", "\u{1F600}", "Basic 4piVOvCfmIA="),
        ])
    func basic(user: String, password: String, expected: String) throws {
        #expect(try BasicScheme.fieldValue(Credentials(user: user, password: password)).shown == expected)
    }

    @Test(
        "what Basic cannot carry is refused",
        arguments: [
            (Credentials(user: "a:b", password: "c"), CredentialsFault.colonInUser),
            (Credentials(user: "a", password: "c\r\nX: y"), .controlCharacter),
            (Credentials(user: "a\n", password: "c"), .controlCharacter),
            (Credentials(user: "a\u{7F}", password: "c"), .controlCharacter),
            (Credentials(user: "a\u{0}", password: "c"), .controlCharacter),
            (Credentials(user: "a", password: "c\t"), .controlCharacter),
            // A mark that joins the colon hides it from a search by characters.
            (Credentials(user: "a:\u{301}b", password: "c"), .colonInUser),
            (Credentials(bearer: "t"), .kind), (Credentials(.ticket), .kind),
        ])
    func basicRefused(credentials: Credentials, fault: CredentialsFault) {
        #expect(throws: fault) { try BasicScheme.fieldValue(credentials) }
    }

    @Test("a bearer token is sent as it is, RFC 6750", arguments: ["mF_9.B5f-4.1JqM", "a+/~==", "1|abc:d"])
    func bearer(token: String) throws {
        #expect(try BearerScheme.fieldValue(Credentials(bearer: token)).shown == "Bearer " + token)
    }

    @Test(
        "a token that would be something else is refused",
        arguments: [
            ("", CredentialsFault.token), ("a b", .token), ("a,b", .token), ("a\"b", .token), ("é", .token),
            ("a\r\nX: y", .controlCharacter), ("a\u{0}", .controlCharacter), ("a\u{7F}", .controlCharacter),
        ])
    func bearerRefused(token: String, fault: CredentialsFault) {
        #expect(throws: fault) { try BearerScheme.fieldValue(Credentials(bearer: token)) }
        #expect(throws: CredentialsFault.kind) { try BearerScheme.fieldValue(Credentials(user: "a", password: "b")) }
    }

    @Test("every fault has words that hold no value")
    func explanations() {
        let faults: [CredentialsFault] = [
            .colonInUser, .controlCharacter, .token, .kind, .hash, .nonceUsedUp, .bodyDigest,
        ]
        #expect(Set(faults.map(\.explanation)).count == faults.count)
    }
}
