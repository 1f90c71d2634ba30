import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Protection spaces, RFC 9110 §11.5, ULS-AUTH-02")
struct ProtectionSpaceTests {
    private static let spaces: [ProtectionSpace] = {
        var spaces: [ProtectionSpace] = []
        for side in AuthenticationSide.allCases {
            for (uriScheme, host, port) in [
                ("http", "a", 80), ("https", "a", 443), ("http", "a", 81), ("http", "b", 80), ("http", "ab", 80),
                ("https", "a", 80),
            ] as [(String, String, UInt16)] {
                for scheme in AuthenticationScheme.allCases {
                    for realm in [nil, "", "a", "b", "ab", "a\u{0}"] as [String?] {
                        spaces.append(
                            ProtectionSpace(
                                side: side, origin: Origin(scheme: uriScheme, host: host, port: port), scheme: scheme,
                                realm: realm.map(\.raw)))
                    }
                }
            }
        }
        return spaces
    }()

    @Test("different spaces have different keys, equal ones the same")
    func keys() {
        #expect(Set(Self.spaces).count == Self.spaces.count)
        #expect(Set(Self.spaces.map(\.key)).count == Self.spaces.count)
        for space in Self.spaces {
            let other = ProtectionSpace(
                side: space.side, origin: space.origin, scheme: space.scheme, realm: space.realm)
            #expect(other.key == space.key)
        }
    }

    @Test("a key is these bytes, in every version")
    func stable() {
        let space = ProtectionSpace(
            side: .proxy, origin: Origin(scheme: "http", host: "h", port: 3128), scheme: .digest, realm: "é".raw)
        let expected: [UInt8] =
            [1, 2, 3, 0x0C, 0x38, 0, 0, 0, 4] + "http".raw + [0, 0, 0, 1] + "h".raw + [0, 0, 0, 2, 0xC3, 0xA9]
        #expect(space.key == expected)
        let bare = ProtectionSpace(
            side: .server, origin: Origin(scheme: "https", host: "h", port: 443), scheme: .ntlm, realm: nil)
        #expect(
            bare.key == [1, 1, 4, 1, 0xBB, 0, 0, 0, 5] + "https".raw + [0, 0, 0, 1] + "h".raw + [255, 255, 255, 255])
    }

    @Test(
        "a password goes securely when the connection is encrypted or the scheme does not send it",
        arguments: [
            (AuthenticationScheme.basic, false), (.bearer, false), (.digest, true), (.ntlm, true), (.negotiate, true),
        ])
    func securely(scheme: AuthenticationScheme, inClear: Bool) {
        for side in AuthenticationSide.allCases {
            #expect(
                ProtectionSpace(side: side, origin: plainOrigin, scheme: scheme, realm: nil).receivesSecurely == inClear
            )
            #expect(ProtectionSpace(side: side, origin: secureOrigin, scheme: scheme, realm: nil).receivesSecurely)
        }
    }

    @Test("it says where it is, for logs")
    func text() {
        let space = ProtectionSpace(side: .proxy, origin: plainOrigin, scheme: .basic, realm: "r".raw)
        #expect("\(space)" == #"proxy http://a.example:80 "r" (Basic)"#)
        #expect(
            "\(ProtectionSpace(side: .server, origin: secureOrigin, scheme: .ntlm, realm: nil))"
                == "https://a.example:443 (NTLM)")
    }

    @Test("NTLM and Negotiate have one space for a server, whatever they call it")
    func connections() throws {
        var rules = SchemeRules()
        rules.allowed = [.ntlm, .negotiate]
        let list = try ChallengeList(#"NTLM realm="x", Negotiate realm="y""#)
        #expect(rules.candidates(list, from: .server, of: plainOrigin).map(\.space.realm) == [nil, nil])
    }
}
