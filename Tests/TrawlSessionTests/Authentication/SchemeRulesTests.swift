import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Choice of a scheme, RFC 9110 §11.4, ASI-AUTH-08")
struct SchemeRulesTests {
    /// All that a server could offer, weakest first.
    private static let everything = [
        #"Basic realm="b""#, #"Bearer realm="t""#, "NTLM", #"Digest realm="d", nonce="1""#,
        #"Digest realm="d", nonce="2", algorithm=SHA-256"#, #"Digest realm="d", nonce="3", algorithm=SHA-512-256"#,
        "Negotiate", "Unheard x=y",
    ]

    private func names(_ rules: SchemeRules, _ origin: Origin, _ challenges: [String] = everything) throws -> [String] {
        let list = try ChallengeList(challenges.joined(separator: ", "))
        return rules.candidates(list, from: .server, of: origin).map { candidate in
            candidate.scheme.name + (candidate.digest.map { " " + $0.algorithm.hash.name } ?? "")
        }
    }

    @Test("the strongest comes first, and NTLM only when it is asked for by name")
    func order() throws {
        var rules = SchemeRules()
        rules.hashes = Set(DigestAlgorithm.Hash.allCases)
        let digests = ["Digest SHA-512-256", "Digest SHA-256", "Digest MD5"]
        #expect(try names(rules, secureOrigin) == ["Negotiate"] + digests + ["Bearer", "Basic"])
        rules.allowed.formUnion(.ntlm)
        #expect(try names(rules, secureOrigin) == ["Negotiate"] + digests + ["NTLM", "Bearer", "Basic"])
        #expect(try names(rules, secureOrigin, Self.everything.reversed()).first == "Negotiate")
    }

    @Test(
        "only what is allowed is answered",
        arguments: [
            (SchemeSet.basic, ["Basic"]), (.digest, ["Digest SHA-256", "Digest MD5"]), (.bearer, ["Bearer"]),
            (.ntlm, ["NTLM"]), (.negotiate, ["Negotiate"]), ([], []),
            ([.basic, .digest], ["Digest SHA-256", "Digest MD5", "Basic"]),
        ] as [(SchemeSet, [String])])
    func allowed(schemes: SchemeSet, expected: [String]) throws {
        var rules = SchemeRules()
        rules.allowed = schemes
        #expect(try names(rules, secureOrigin) == expected)
    }

    @Test("passwords and tokens go in clear only when that is allowed")
    func clear() throws {
        var rules = SchemeRules()
        #expect(try names(rules, plainOrigin) == ["Negotiate", "Digest SHA-256", "Digest MD5"])
        rules.allowsSecretInClear = true
        #expect(try names(rules, plainOrigin) == ["Negotiate", "Digest SHA-256", "Digest MD5", "Bearer", "Basic"])
    }

    @Test("a hash there is no function for is not chosen, nor a challenge that makes no sense")
    func hashes() throws {
        var rules = SchemeRules()
        rules.hashes = [.md5]
        #expect(try names(rules, secureOrigin, Self.everything.filter { $0.hasPrefix("Digest") }) == ["Digest MD5"])
        #expect(try names(rules, secureOrigin, [#"Digest realm="a""#, "Digest", "Digest YWJj"]).isEmpty)
    }

    @Test("equally strong ones stay in the server's order")
    func equals() throws {
        let list = try ChallengeList(
            (0..<20).map {
                #"Digest realm="\#($0)", nonce="n", algorithm=MD5\#($0 % 2 == 0 ? "-sess" : "")"# + ", qop=auth"
            }
            .joined(separator: ", "))
        let found = SchemeRules().candidates(list, from: .server, of: plainOrigin)
        #expect(found.map { $0.space.realmText } == (0..<20).map { "\($0)" })
    }

    @Test("credentials answer the schemes they are for")
    func kinds() throws {
        let list = try ChallengeList(Self.everything.joined(separator: ", "))
        var rules = SchemeRules()
        rules.allowed.formUnion(.ntlm)
        let candidates = rules.candidates(list, from: .server, of: secureOrigin)
        func taking(_ credentials: Credentials) -> Set<AuthenticationScheme> {
            Set(candidates.filter { $0.takes(credentials) }.map(\.scheme))
        }
        #expect(taking(Credentials(user: "u", password: "p")) == [.basic, .digest, .ntlm, .negotiate])
        #expect(taking(Credentials(bearer: "t")) == [.bearer])
        #expect(taking(Credentials(.ticket)) == [.negotiate])
    }
}
