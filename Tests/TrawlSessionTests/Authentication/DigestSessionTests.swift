import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Digest, RFC 7616, ASI-AUTH-05")
struct DigestSessionTests {
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"

    private func session(
        _ challenge: String, user: String = "u", password: String = "p", clientNonce: String = "c",
        after count: UInt32 = 0, hashes: DigestHashes = .all
    ) throws -> DigestSession {
        try DigestSession(
            DigestChallenge(text: challenge), Credentials(user: user, password: password),
            clientNonce: clientNonce.raw, after: count, hashes: hashes)
    }

    private func field(
        _ challenge: String, user: String = "u", password: String = "p", clientNonce: String = "c",
        target: String = "/", bodyHash: [UInt8]? = nil
    ) throws -> String {
        var session = try session(challenge, user: user, password: password, clientNonce: clientNonce)
        let request = DigestRequest(method: .get, target: target.raw, bodyHash: bodyHash)
        return try session.prove(request).fieldValue.shown
    }

    @Test(
        "the hashes of these tests are right",
        arguments: [
            (
                "", "d41d8cd98f00b204e9800998ecf8427e",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"
            ),
            (
                "abc", "900150983cd24fb0d6963f7d28e17f72",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"
            ),
            (
                String(repeating: "a", count: 56) + String(repeating: "b", count: 80),
                "cd3f5c8c66046f05e2cd0de8ae6f4462",
                "9f52ce669bc7f954dbf225f5d3d99745f28bd7bc77e8ee2d547df2fdcb82012f",
                "a673352851678ab0a5c600d314e701f676b2225b8f68afda9574e88ee966373d"
            ),
        ])
    func functions(text: String, md5: String, sha256: String, sha512: String) throws {
        #expect(try DigestHashes.all.hexadecimal(.md5, of: text.raw).shown == md5)
        #expect(try DigestHashes.all.hexadecimal(.sha256, of: text.raw).shown == sha256)
        #expect(try DigestHashes.all.hexadecimal(.sha512Slash256, of: text.raw).shown == sha512)
    }

    @Test(
        "the example of §3.9.1 comes out, byte for byte",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func example(algorithm: String, response: String) throws {
        let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
        let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        let challenge =
            #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\#(algorithm), nonce="\#(nonce)", "#
            + #"opaque="\#(Self.opaque)""#
        let value = try field(
            challenge, user: "Mufasa", password: "Circle of Life", clientNonce: clientNonce, target: "/dir/index.html")
        #expect(
            value == #"Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", "#
                + #"algorithm=\#(algorithm), nonce="\#(nonce)", nc=00000001, cnonce="\#(clientNonce)", qop=auth, "#
                + #"response="\#(response)", opaque="\#(Self.opaque)""#)
    }

    /// With the user's hash and the response of erratum 4897: the RFC's own are of another function.
    @Test("the example of §3.9.2 comes out, with and without the hash of the user", arguments: [true, false])
    func internationalExample(hashesUser: Bool) throws {
        let challenge =
            #"Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, "#
            + #"nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", "#
            + #"opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=\#(hashesUser)"#
        let value = try field(
            challenge, user: "Jäsøn Doe", password: "Secret, or not?",
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", target: "/doe.json")
        let user =
            hashesUser
            ? #"username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b""#
            : "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe"
        #expect(value.hasPrefix("Digest \(user), realm="))
        #expect(value.contains(#"response="3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5""#))
        #expect(value.hasSuffix(", userhash=true") == hashesUser)
    }

    @Test("the example of RFC 2617 §3.5 comes out")
    func oldExample() throws {
        let value = try field(
            #"Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41""#,
            user: "Mufasa", password: "Circle Of Life", clientNonce: "0a4f113b", target: "/dir/index.html")
        #expect(value.contains(#"response="6629fae49393a05397450978507c4ef1""#))
        #expect(!value.contains("algorithm"))
    }

    @Test(
        "every algorithm and protection computes what an independent implementation does", arguments: DigestVectors.all)
    func vectors(vector: DigestVector) throws {
        var writer = FieldWriter("Digest ")
        writer.append(quoted: "realm", vector.realm.raw)
        writer.append(quoted: "nonce", DigestVectors.nonce.raw)
        writer.append("algorithm", vector.algorithm.raw)
        if !vector.qop.isEmpty { writer.append(quoted: "qop", vector.qop.raw) }
        var session = try session(
            writer.bytes.shown, user: vector.user, password: vector.password, clientNonce: DigestVectors.clientNonce,
            after: DigestVectors.count - 1)
        let hash = session.challenge.algorithm.hash
        let bodyHash = vector.body.withUnsafeBytes(
            hash == .md5 ? PlainHashes.md5 : hash == .sha256 ? PlainHashes.sha256 : PlainHashes.sha512)
        let method = try #require(Method(vector.method))
        let proof = try session.prove(
            DigestRequest(method: method, target: vector.target.raw, bodyHash: bodyHash))
        #expect(proof.fieldValue.shown.contains(#"response="\#(vector.response)""#))

        func verdict(_ response: String, bodyHash: [UInt8]?) throws -> DigestSession.Verdict {
            var session = session
            let fields = try FieldLines("authentication-info", #"rspauth="\#(response)""#)
            return session.finish(proof, fields, from: .server, bodyHash: bodyHash)
        }
        #expect(try verdict(vector.serverResponse, bodyHash: bodyHash) == .proved)
        #expect(try verdict(vector.serverResponse.uppercased(), bodyHash: bodyHash) == .proved)
        #expect(try verdict(vector.response, bodyHash: bodyHash) == .wrong)
        #expect(try verdict("", bodyHash: bodyHash) == .wrong)
        #expect(
            try verdict(vector.serverResponse, bodyHash: nil) == (vector.qop == "auth-int" ? .needsBodyHash : .proved))

        writer.append("userhash", "true".raw)
        let hashed = try field(
            writer.bytes.shown, user: vector.user, password: vector.password, clientNonce: DigestVectors.clientNonce,
            bodyHash: bodyHash)
        #expect(hashed.hasPrefix(#"Digest username="\#(vector.userHash)""#))
    }

    @Test("the form of RFC 2069 has no count and no nonce of ours")
    func legacy() throws {
        #expect(
            try field(#"Digest realm="r", nonce="n", opaque="""#)
                == #"Digest username="u", realm="r", uri="/", nonce="n", response="ef7e5d0d6fd6c4c1bc3c22c9dd2c7fb5", opaque="""#
                .replacing(
                    "ef7e5d0d6fd6c4c1bc3c22c9dd2c7fb5", with: try legacyResponse("u:r:p", nonce: "n", "GET:/")))
    }

    private func legacyResponse(_ first: String, nonce: String, _ second: String) throws -> String {
        let hashes = DigestHashes.all
        let inner = try [first, second].map { try hashes.hexadecimal(.md5, of: $0.raw).shown }
        return try hashes.hexadecimal(.md5, of: "\(inner[0]):\(nonce):\(inner[1])".raw).shown
    }

    @Test("algorithm, qop, nc and userhash are not quoted, all others are, and quotes in them are escaped")
    func quoting() throws {
        let value = try field(
            #"Digest realm="a \"b\" \\ c", nonce="n\"", opaque="o\\", qop="auth", algorithm="md5", userhash=TRUE"#,
            user: #"a"b\c"#)
        #expect(
            value.contains(
                #"realm="a \"b\" \\ c", uri="/", algorithm=md5, nonce="n\"", nc=00000001, cnonce="c", qop=auth"#))
        #expect(value.contains(#"opaque="o\\", userhash=true"#))
        let plain = try field(#"Digest realm="r", nonce="n""#, user: #"a"b\c"#)
        #expect(plain.hasPrefix(#"Digest username="a\"b\\c", "#))
    }

    @Test(
        "a name beyond ASCII is encoded for servers that know of it, and sent in UTF-8 to others",
        arguments: [
            ("é", ", charset=UTF-8", "username*=UTF-8''%C3%A9"),
            ("é", ", charset=\"utf-8\"", "username*=UTF-8''%C3%A9"),
            ("é", "", #"username="é""#), ("e", ", charset=UTF-8", #"username="e""#),
            (
                "aZ09!#$&+-.^_`|~ %'*()☕", ", charset=UTF-8",
                "username*=UTF-8''aZ09!#$&+-.^_`|~%20%25%27%2A%28%29%E2%98%95"
            ),
        ])
    func names(user: String, parameter: String, expected: String) throws {
        #expect(
            try field(#"Digest realm="r", nonce="n""# + parameter, user: user).hasPrefix("Digest \(expected), realm="))
    }

    @Test("counts go up by one and are written with eight digits")
    func counts() throws {
        var session = try session(#"Digest realm="r", nonce="n", qop=auth"#)
        let request = DigestRequest(method: .get, target: "/".raw)
        for count in 1...20 {
            let digits = String(count, radix: 16)
            let expected = "nc=" + String(repeating: "0", count: 8 - digits.count) + digits + ","
            #expect(try session.prove(request).fieldValue.shown.contains(expected))
        }
    }

    @Test("the nonce of ours is both numbers it was given, and new numbers make another session")
    func randomness() throws {
        let challenge = try DigestChallenge(text: #"Digest realm="r", nonce="n", qop=auth"#)
        let credentials = Credentials(user: "u", password: "p")
        func value(_ random: (UInt64, UInt64)) throws -> String {
            var session = try DigestSession(challenge, credentials, random: random, hashes: .all)
            return try session.prove(DigestRequest(method: .get, target: "/".raw)).fieldValue.shown
        }
        #expect(try value((1, .max)).contains(#"cnonce="0000000000000001ffffffffffffffff""#))
        #expect(Set([try value((1, 2)), try value((2, 1)), try value((1, 1))]).count == 3)
    }

    @Test("a session key stays when the server gives a new nonce, RFC 7616 §3.4.2")
    func sessionKey() throws {
        let hashes = DigestHashes.all
        var session = try session(#"Digest realm="r", nonce="first", qop=auth, algorithm=MD5-sess"#)
        let request = DigestRequest(method: .get, target: "/".raw)
        let proof = try session.prove(request)
        #expect(
            session.finish(proof, try FieldLines("Authentication-Info", #"nextnonce="second""#), from: .server)
                == .silent)
        #expect(session.nonce == "second".raw)
        let value = try session.prove(request).fieldValue.shown
        let user = try hashes.hexadecimal(.md5, of: "u:r:p".raw).shown
        let key = try hashes.hexadecimal(.md5, of: "\(user):first:c".raw).shown
        let second = try hashes.hexadecimal(.md5, of: "GET:/".raw).shown
        let expected = try hashes.hexadecimal(.md5, of: "\(key):second:00000001:c:auth:\(second)".raw).shown
        #expect(value.contains(#"nonce="second", nc=00000001"#))
        #expect(value.contains(#"response="\#(expected)""#))
    }

    @Test("the proof of the server must be of this request, and a nonce comes only with a good one")
    func info() throws {
        let hashes = DigestHashes.all
        var session = try session(#"Digest realm="r", nonce="n", qop=auth"#)
        let proof = try session.prove(DigestRequest(method: .get, target: "/x".raw))
        let key = try hashes.hexadecimal(.md5, of: "u:r:p".raw).shown
        let second = try hashes.hexadecimal(.md5, of: ":/x".raw).shown
        let right = try hashes.hexadecimal(.md5, of: "\(key):n:00000001:c:auth:\(second)".raw).shown
        func verdict(_ value: String) throws -> (DigestSession.Verdict, String) {
            var copy = session
            let verdict = copy.finish(proof, try FieldLines("Authentication-Info", value), from: .server)
            return (verdict, copy.nonce.shown)
        }
        let cases: [(String, DigestSession.Verdict, String)] = [
            (#"rspauth="\#(right)""#, .proved, "n"),
            (#"rspauth="\#(right)", qop=auth, cnonce="c", nc=00000001, nextnonce="m""#, .proved, "m"),
            (#"rspauth="\#(right)", cnonce="d", nextnonce="m""#, .wrong, "n"),
            (#"rspauth="\#(right)", nc=00000002"#, .wrong, "n"),
            (#"rspauth="\#(right)", nc=1"#, .wrong, "n"),
            (#"rspauth="\#(right)", qop=other"#, .wrong, "n"),
            (#"rspauth="\#(right)", qop=auth-int"#, .needsBodyHash, "n"),
            (#"rspauth="0\#(right.dropFirst())", nextnonce="m""#, .wrong, "n"),
            (#"nextnonce="m""#, .silent, "m"), (#"nextnonce="""#, .silent, "n"), ("", .silent, "n"),
            ("@@@", .silent, "n"),
        ]
        for (value, expected, nonce) in cases {
            let found = try verdict(value)
            #expect(found.0 == expected, "\(value)")
            #expect(found.1 == nonce, "\(value)")
        }
        #expect(session.finish(proof, FieldLines(), from: .server) == .silent)
        // The other side's field says nothing.
        let other = try FieldLines("Proxy-Authentication-Info", #"nextnonce="m""#)
        #expect(session.finish(proof, other, from: .server) == .silent)
        #expect(session.nonce.shown == "n")
        #expect(session.finish(proof, other, from: .proxy) == .silent)
        #expect(session.nonce.shown == "m")
    }

    @Test("a nonce that stays the same goes on with its counts")
    func sameNonce() throws {
        var session = try session(#"Digest realm="r", nonce="n", qop=auth"#)
        let request = DigestRequest(method: .get, target: "/".raw)
        let proof = try session.prove(request)
        _ = session.finish(proof, try FieldLines("Authentication-Info", #"nextnonce="n""#), from: .server)
        #expect(try session.prove(request).fieldValue.shown.contains("nc=00000002,"))
    }

    @Test("a nonce that comes again goes on with its counts, RFC 7616 §3.4")
    func alternating() throws {
        var session = try session(#"Digest realm="r", nonce="n0", qop=auth"#)
        let request = DigestRequest(method: .get, target: "/".raw)
        var sent: [String] = []
        for next in ["n1", "n0", "n1", "n0", "n2", "n1"] {
            let proof = try session.prove(request)
            sent.append("\(proof.nonce.shown) \(proof.count)")
            _ = session.finish(proof, try FieldLines("Authentication-Info", #"nextnonce="\#(next)""#), from: .server)
        }
        #expect(sent == ["n0 1", "n1 1", "n0 2", "n1 2", "n0 3", "n2 1"])
        // Nonces without number take bounded room.
        for number in 0..<1_000 {
            let info = try FieldLines("Authentication-Info", #"nextnonce="m\#(number)""#)
            _ = session.finish(try session.prove(request), info, from: .server)
        }
        #expect(session.size < 2_000)
    }

    @Test("a challenge with a nonce of before goes on with its counts, but not by the key of another nonce")
    func resuming() throws {
        let request = DigestRequest(method: .get, target: "/".raw)
        for (algorithm, isResumed) in [("MD5", true), ("MD5-sess", false)] {
            var session = try session(#"Digest realm="r", nonce="n0", qop=auth, algorithm=\#(algorithm)"#)
            for next in ["n1", "n2"] {
                let info = try FieldLines("Authentication-Info", #"nextnonce="\#(next)""#)
                _ = session.finish(try session.prove(request), info, from: .server)
            }
            func resumes(_ nonce: String) -> Bool { session.resume(nonce.raw) }
            #expect(!resumes("n3") && resumes("n2"))
            #expect(resumes("n1") == isResumed)
            #expect(resumes("n0"))
            let proof = try session.prove(request)
            #expect(proof.nonce.shown == "n0" && proof.count == 2)
        }
    }

    @Test("a count is taken only for a proof that can be made")
    func noGap() throws {
        var session = try session(#"Digest realm="r", nonce="n", qop="auth-int""#)
        for _ in 0..<2 {
            #expect(throws: CredentialsFault.bodyDigest) {
                try session.prove(DigestRequest(method: .get, target: "/".raw))
            }
        }
        #expect(try session.prove(DigestRequest(method: .get, target: "/".raw, bodyHash: [1])).count == 1)
    }

    @Test("what cannot be computed or sent is refused")
    func refused() throws {
        let plain = #"Digest realm="r", nonce="n""#
        #expect(throws: CredentialsFault.controlCharacter) { try session(plain, user: "a\nb") }
        #expect(throws: CredentialsFault.controlCharacter) { try session(plain, password: "a\r\nb") }
        #expect(throws: CredentialsFault.hash) {
            try session(plain + ", algorithm=SHA-256", hashes: DigestHashes([.md5: PlainHashes.md5]))
        }
        #expect(throws: CredentialsFault.kind) {
            try DigestSession(DigestChallenge(text: plain), Credentials(bearer: "t"), random: (0, 0), hashes: .all)
        }
        #expect(throws: CredentialsFault.bodyDigest) { try field(plain + ", qop=auth-int") }
        #expect(try field(plain + ", qop=auth-int", bodyHash: [1]).contains("qop=auth-int"))
        #expect(try field(plain + #", qop="auth-int,auth""#, bodyHash: [1]).contains("qop=auth,"))
    }
}
