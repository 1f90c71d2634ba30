import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Protection spaces, RFC 9110 §11.5, ULS-AUTH-02")
struct ProtectionSpaceTests {
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
