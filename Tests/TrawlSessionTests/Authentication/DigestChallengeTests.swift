import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Challenges of Digest, RFC 7616 §3.3")
struct DigestChallengeTests {
    @Test("what is not said has the standard's meaning")
    func defaults() throws {
        let challenge = try DigestChallenge(text: #"Digest realm="r", nonce="n""#)
        #expect(challenge.algorithm == DigestAlgorithm(.md5))
        #expect(challenge.protections == [.legacy])
        #expect(challenge.opaque == nil)
        #expect(!challenge.isStale && !challenge.wantsUserHash && !challenge.isUTF8)
        #expect(challenge.domain.isEmpty)
    }

    @Test(
        "every algorithm is known, in whatever case, quoted or not",
        arguments: [
            ("MD5", DigestAlgorithm(.md5)), ("md5", DigestAlgorithm(.md5)), ("\"MD5\"", DigestAlgorithm(.md5)),
            ("MD5-sess", DigestAlgorithm(.md5, isSession: true)), ("SHA-256", DigestAlgorithm(.sha256)),
            ("sha-256-SESS", DigestAlgorithm(.sha256, isSession: true)),
            ("SHA-512-256", DigestAlgorithm(.sha512Slash256)),
            ("SHA-512-256-sess", DigestAlgorithm(.sha512Slash256, isSession: true)),
        ])
    func algorithms(name: String, expected: DigestAlgorithm) throws {
        #expect(
            try DigestChallenge(text: #"Digest realm="r", nonce="n", qop=auth, algorithm="# + name).algorithm
                == expected)
    }

    @Test(
        "qop is a list of which unknown values are left out",
        arguments: [
            (#""auth""#, [.authentication]), ("auth", [.authentication]),
            (#""auth,auth-int""#, [.authentication, .integrity]),
            (#"" auth-int ,, AUTH ""#, [.authentication, .integrity]),
            (#""auth-int""#, [.integrity]), (#""auth-conf,auth""#, [.authentication]), (#""""#, [.legacy]),
            (#""auth auth-int""#, [.authentication, .integrity]),
        ] as [(String, Set<DigestChallenge.Protection>)])
    func protections(value: String, expected: Set<DigestChallenge.Protection>) throws {
        #expect(try DigestChallenge(text: #"Digest realm="r", nonce="n", qop="# + value).protections == expected)
    }

    @Test(
        "auth is preferred, and auth-int needs the body",
        arguments: [
            ("auth,auth-int", true, DigestChallenge.Protection.authentication), ("auth", false, .authentication),
            ("auth-int", true, .integrity), ("auth-int", false, nil), ("", false, .legacy),
        ])
    func preferred(qop: String, canHash: Bool, expected: DigestChallenge.Protection?) throws {
        let challenge = try DigestChallenge(text: #"Digest realm="r", nonce="n", qop="\#(qop)""#)
        #expect(challenge.protection(canHashBody: canHash) == expected)
    }

    @Test(
        "what cannot be answered is none",
        arguments: [
            #"Digest realm="r""#, #"Digest realm="r", nonce="n", algorithm=SHA-1"#, "Digest YWJj",
            #"Digest realm="r", nonce="n", qop="auth-conf""#, #"Digest realm="r", nonce="n", algorithm=MD5-sess"#,
            #"Basic realm="r", nonce="n""#, #"Digest realm="r", nonce="n", algorithm="""#,
        ])
    func unusable(text: String) throws {
        let challenge = try #require(try ChallengeList(text).challenges.first)
        #expect(DigestChallenge(challenge) == nil)
    }

    @Test("flags hold for true alone, in whatever case")
    func flags() throws {
        for (value, expected) in [("true", true), ("TRUE", true), ("\"true\"", true), ("false", false), ("yes", false)]
        {
            let challenge = try DigestChallenge(
                text: #"Digest realm="r", nonce="n", stale=\#(value), userhash=\#(value)"#)
            #expect(challenge.isStale == expected)
            #expect(challenge.wantsUserHash == expected)
        }
        #expect(try !DigestChallenge(text: "Digest nonce=n, charset=latin1").isUTF8)
        #expect(try DigestChallenge(text: "Digest nonce=n").realm.isEmpty)
    }

    @Test(
        "the domain says which paths of the origin a nonce is for",
        arguments: [
            ("", nil), ("  ", nil), ("/a", ["/a"]), ("/a /b/c?d", ["/a", "/b/c?d"]), ("https://a.example/x", ["/x"]),
            ("HTTPS://A.Example:443/x", ["/x"]), ("https://a.example", ["/"]), ("https://a.example?q", ["/?q"]),
            ("//a.example/x", ["/x"]), ("https://a.example:/x", ["/x"]),
            // Not this origin, or no URI.
            ("http://a.example/x", []), ("https://b.example/x", []), ("https://a.example:444/x", []),
            ("https://u@a.example/x", []), ("https://a.example.evil/x", []), ("x/y", []), ("a", []), ("//", []),
            ("https:/a.example/x", []), ("https//a.example/x", []), ("/x https://b.example/y", ["/x"]),
        ] as [(String, [String]?)])
    func domain(text: String, expected: [String]?) {
        #expect(DigestDomain.paths(text.raw, at: secureOrigin)?.map(\.shown) == expected)
    }

    @Test("of a long list of a domain the first 32 paths of the origin are taken")
    func longDomain() {
        let text = "https://b.example/ " + (0..<2_000).map { "/\($0)/" }.joined(separator: " ")
        #expect(DigestDomain.paths(text.raw, at: secureOrigin)?.map(\.shown) == (0..<32).map { "/\($0)/" })
    }
}
