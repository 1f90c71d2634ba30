import Testing

@testable import TrawlCommand

@Suite("Secrets among arguments")
struct ArgumentSecretsTests {
    @Test(
        "are found where they stand",
        arguments: [
            ("-uann:pw", "ann:pw"), ("-su", ""), ("-u", ""), ("--user", ""), ("--user=ann:pw", "ann:pw"),
            ("--oauth2-bearer=tok", "tok"), ("-oan-u", nil), ("-o", nil), ("--output=u", nil), ("word", nil),
            ("http://ann:pw@h/x", "ann:pw"), ("https://ann@h", "ann"), ("http://h/a@b", nil), ("http://@h", nil),
            ("--proxy=http://p:q@h", "p:q"), ("-HAuthorization: Basic x", " Basic x"), ("Cookie: a=b", " a=b"),
            ("--header=authorization:tok", "tok"), ("X-Mine: 1", nil), ("", nil), ("-", nil), ("--", nil),
        ] as [(String, String?)])
    func secret(argument: String, wanted: String?) {
        let place = ArgumentSecrets.secret(in: argument)
        let found = place.map { String(decoding: Array(argument.utf8)[$0], as: UTF8.self) }
        #expect(found == wanted)
    }
}
