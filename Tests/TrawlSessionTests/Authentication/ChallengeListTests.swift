import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Challenges, RFC 9110 §11.6.1")
struct ChallengeListTests {
    @Test(
        "challenges are told apart, wherever commas and spaces stand",
        arguments: [
            ([#"Basic realm="a""#], ["Basic realm=<a>"]),
            (["Basic"], ["Basic"]),
            (["Negotiate"], ["Negotiate"]),
            ([#"Basic realm="a", charset="UTF-8""#], ["Basic realm=<a> charset=<UTF-8>"]),
            ([#"BASIC Realm = "a" ,charset=UTF-8"#], ["BASIC realm=<a> charset=<UTF-8>"]),
            (["Negotiate YWJj"], ["Negotiate YWJj"]),
            (["Negotiate YWI=, NTLM YQ=="], ["Negotiate YWI=", "NTLM YQ=="]),
            (["NTLM ab+/._~-9=="], ["NTLM ab+/._~-9=="]),
            ([#"Digest realm="a", nonce="n", Basic realm="b""#], ["Digest realm=<a> nonce=<n>", "Basic realm=<b>"]),
            (
                [#"Basic realm="a", Newauth realm="b", x=1, y="z, q""#],
                ["Basic realm=<a>", "Newauth realm=<b> x=<1> y=<z, q>"]
            ),
            (["Negotiate, NTLM, Basic"], ["Negotiate", "NTLM", "Basic"]),
            ([#"Negotiate, Basic realm="a""#], ["Negotiate", "Basic realm=<a>"]),
            ([",, ,Basic realm=a,,\t, Bearer ,"], ["Basic realm=<a>", "Bearer"]),
            ([#"Basic   realm="a"   ,   Bearer   error="x"  "#], ["Basic realm=<a>", "Bearer error=<x>"]),
            (["Basic\trealm=a"], ["Basic realm=<a>"]),
            // Several lines are one list.
            (
                [#"Basic realm="a""#, #"Digest realm="b", nonce="n""#],
                ["Basic realm=<a>", "Digest realm=<b> nonce=<n>"]
            ),
            ([#"Digest realm="b""#, #"nonce="n", Basic"#], ["Digest realm=<b> nonce=<n>", "Basic"]),
            // Strings.
            ([#"Basic realm="a \"b\" \\ \c, d=e""#], [#"Basic realm=<a "b" \ c, d=e>"#]),
            ([#"Basic realm="""#], ["Basic realm=<>"]),
            ([#"Basic realm="Fußgänger""#], ["Basic realm=<Fußgänger>"]),
            // Parameters without a comma between them, and values that should have been quoted.
            ([#"Digest realm="a" nonce="n" qop=auth, x=y"#], ["Digest realm=<a> nonce=<n> qop=<auth> x=<y>"]),
            (["Digest realm=a/b;c, nonce=x=="], ["Digest realm=<a/b;c> nonce=<x==>"]),
            // Of a parameter that comes twice the first counts.
            ([#"Basic realm="a", REALM="b""#], ["Basic realm=<a>"]),
            // What is neither a token nor a parameter is one without a value.
            (["Basic realm="], ["Basic realm="]),
            (["Basic realm=, x=y"], ["Basic realm="]),
        ])
    func forms(values: [String], expected: [String]) throws {
        var fields = FieldLines()
        for value in values { try fields.append("www-authenticate", value) }
        let list = ChallengeList(fields, from: .server)
        #expect(list.challenges.map(\.line) == expected)
        #expect(!list.isCut)
    }

    @Test(
        "what cannot be read gives no parameter to another challenge",
        arguments: [
            (#"Basic realm="a", @, realm="b", x=y"#, ["Basic realm=<a>"]),
            (
                #"Basic realm="a", B@d realm="b", charset=UTF-8, Digest nonce="n""#,
                ["Basic realm=<a>", "Digest nonce=<n>"]
            ),
            (#"realm="a", nonce="n""#, []),
            (#"="a", Basic"#, ["Basic"]),
            (#"Negotiate YWJj, realm="a""#, ["Negotiate YWJj"]),
            // A string without an end takes all with it.
            (#"Basic realm="a, Digest nonce="n""#, ["Basic realm=<a, Digest nonce=>"]),
            (#"Basic realm="a, Digest nonce=n"#, ["Basic"]),
            (#"Basic realm="a\"#, ["Basic"]),
            (#"Basic realm="a"junk, x=y"#, ["Basic realm=<a>"]),
            // A scheme needs a comma before it.
            (#"Basic realm="a" Digest nonce="n""#, ["Basic realm=<a>"]),
            (#"Basic a b c, Bearer"#, ["Basic", "Bearer"]),
            (#"Basic "a, b", Bearer"#, ["Basic", "Bearer"]),
            (#"Basic/x realm="a", Bearer"#, ["Bearer"]),
            ("", []), (" \t", []), (",", []), ("\"", []), ("\\", []), ("=", []), ("é", []),
        ])
    func broken(value: String, expected: [String]) throws {
        #expect(try ChallengeList(value).challenges.map(\.line) == expected)
    }

    @Test("schemes nobody here knows are kept")
    func unknown() throws {
        let list = try ChallengeList(#"HOBA max-age=1, Basic realm="a", Vapid abc="#)
        #expect(list.challenges.map(\.name) == ["HOBA", "Basic", "Vapid"])
        #expect(list.challenges.map(\.scheme) == [nil, .basic, nil])
    }

    @Test("schemes have no case", arguments: AuthenticationScheme.allCases)
    func schemes(scheme: AuthenticationScheme) {
        #expect(AuthenticationScheme(name: scheme.name.uppercased()) == scheme)
        #expect(AuthenticationScheme(name: scheme.name.lowercased()) == scheme)
        #expect(AuthenticationScheme(name: scheme.name + "x") == nil)
    }

    @Test("each side has its own field, and does not read the other's")
    func sides() throws {
        var fields = FieldLines()
        try fields.append("WWW-Authenticate", #"Basic realm="a""#)
        try fields.append("Proxy-Authenticate", "NTLM")
        #expect(ChallengeList(fields, from: .server).challenges.map(\.name) == ["Basic"])
        #expect(ChallengeList(fields, from: .proxy).challenges.map(\.name) == ["NTLM"])
        #expect(AuthenticationSide.allCases.map(\.status) == [401, 407])
        #expect(AuthenticationSide.allCases.map(\.credentialsField) == ["Authorization", "Proxy-Authorization"])
        #expect(
            AuthenticationSide.allCases.map(\.infoField) == ["Authentication-Info", "Proxy-Authentication-Info"])
    }

    @Test("bytes of a realm stay what they were, UTF-8 or not")
    func bytes() throws {
        var fields = FieldLines()
        let value = Array(#"Basic realm=""#.utf8) + [0xFC, 0xFF, 0x22]
        try "WWW-Authenticate".raw.withUnsafeBytes { name in
            try value.withUnsafeBytes { try fields.append(name: name, value: $0) }
        }
        let challenge = try #require(ChallengeList(fields, from: .server).challenges.first)
        #expect(challenge.realm == [0xFC, 0xFF])
        #expect(challenge.realmText == "üÿ")
    }

    @Test("ten thousand challenges are read up to the limit, in one field or in many")
    func floods() throws {
        let one = try ChallengeList(Array(repeating: "Basic realm=a", count: 4_000).joined(separator: ","))
        #expect(one.challenges.count == 32)
        #expect(one.isCut)
        var fields = FieldLines()
        for number in 0..<10_000 { try fields.append("WWW-Authenticate", "Basic realm=a\(number)") }
        let many = ChallengeList(fields, from: .server)
        #expect(many.challenges.count == 32)
        #expect(many.isCut)
        let parameters = try ChallengeList("Digest " + (0..<5_000).map { "p\($0)=\($0)" }.joined(separator: ","))
        #expect(parameters.challenges.first?.parameters.count == 32)
    }

    @Test("a line beyond the bytes that are read is left out whole, and so are those behind it")
    func bytesLimit() throws {
        var limits = ChallengeLimits()
        limits.bytes = 30
        let list = try ChallengeList("Basic realm=a", "Bearer realm=b,Digest realm=c", "NTLM", limits: limits)
        #expect(list.challenges.map(\.line) == ["Basic realm=<a>"])
        #expect(list.isCut)
        limits.valueBytes = 3
        let long = try ChallengeList("Basic realm=abcd, x=abc", limits: limits)
        #expect(long.challenges.map(\.line) == ["Basic x=<abc>"])
    }

    @Test(
        "input made to be slow is not", .timeLimit(.minutes(10)),
        arguments: ["\"", "\\", "a=", "a ", ",", "a=\"b", "a\"", "=", "A a"])
    func linear(piece: String) throws {
        var limits = ChallengeLimits()
        limits.bytes = 8 << 20
        // Quadratic work would be 10^12 steps.
        let text = String(repeating: piece, count: 1_000_000)
        _ = try ChallengeList(text, limits: limits)
        _ = try ChallengeList("Basic " + text, limits: limits)
        _ = try ChallengeList("Basic x=" + text, limits: limits)
    }

    @Test("random bytes are survived, and what is understood stays within the limits", arguments: 0..<20)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "Basic", "Digest", " ", "\t", ",", "=", "\"", "\\", "realm", "nonce", "a", "YWI=", "\u{7f}", "é", "@", ";",
        ]
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in generator.pick(pieces) }.joined()
            let list = try ChallengeList(text)
            #expect(list.challenges.count <= 32, "seed \(seed): \(text)")
            for challenge in list.challenges {
                #expect(challenge.name.utf8.allSatisfy(FieldSyntax.isTokenByte), "seed \(seed): \(text)")
                #expect(challenge.token == nil || challenge.parameters.isEmpty, "seed \(seed): \(text)")
                let names = challenge.parameters.map(\.name)
                #expect(Set(names).count == names.count, "seed \(seed): \(text)")
            }
            var fields = FieldLines()
            let noise = generator.bytes(upTo: 100).filter { $0 != 0 && $0 != 10 && $0 != 13 }
            try "WWW-Authenticate".raw.withUnsafeBytes { name in
                try noise.withUnsafeBytes { try fields.append(name: name, value: $0) }
            }
            _ = ChallengeList(fields, from: .server)
        }
    }

    @Test("what is written with quotes and escapes is read back", arguments: 0..<10)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var writer = FieldWriter("Digest ")
            var expected: [Challenge.Parameter] = []
            for number in 0..<Int.random(in: 1...10, using: &generator) {
                let value = generator.bytes(upTo: 20).filter { $0 != 0 && $0 != 10 && $0 != 13 }
                writer.append(quoted: "p\(number)", value)
                expected.append(Challenge.Parameter(name: "p\(number)", value: value))
            }
            var fields = FieldLines()
            try "WWW-Authenticate".raw.withUnsafeBytes { name in
                try writer.bytes.withUnsafeBytes { try fields.append(name: name, value: $0) }
            }
            let list = ChallengeList(fields, from: .server)
            #expect(list.challenges.map(\.parameters) == [expected], "seed \(seed)")
        }
    }
}
