import Testing

@testable import TrawlCommand

@Suite("Secrets among arguments")
struct ArgumentSecretsTests {
    @Test(
        "are found where they stand",
        arguments: [
            ("-uann:pw", "ann:pw"), ("--user=ann:pw", "ann:pw"), ("--oauth2-bearer=tok", "tok"), ("-oan-u", nil),
            ("-o", nil), ("--output=u", nil), ("word", nil), ("http://ann:pw@h/x", "ann:pw"),
            ("https://ann@h", "ann"), ("http://h/a@b", nil), ("http://@h", nil),
            ("http:///ann:pw@h/", "ann:pw"), ("--proxy=http://p:q@h", "p:q"), ("https:/ann:pw@h/", "ann:pw"),
            ("http://ann:p/w@h/", "ann:p/w"), ("ann:p?w@h", "ann:p?w"), ("--referer=http://ann:p#w@h/", "ann:p#w"),
            ("http://h:80/x@y", nil), ("-HAuthorization Basic x", "Basic x"), ("--header=Cookie=a: b", "a: b"),
            ("-HAuthorization: Basic x", " Basic x"), ("Cookie: a=b", " a=b"),
            ("--header=authorization:tok", "tok"), ("X-Mine: 1", nil), ("", nil), ("-", nil), ("--", nil),
            ("ann:pw@h:80/x@y", "ann:pw"), ("h/x@y", nil), ("-xp:q@h:3128", "p:q"), ("--socks5=p:q@h", "p:q"),
            ("--cert=c.pem:pw", "c.pem:pw"), ("-Ec.pem:pw", "c.pem:pw"), ("--pass=pw", "pw"), ("-bsid=1", "sid=1"),
            ("-bfile", nil), ("--cookie=sid=1", "sid=1"), ("--data=me@h", nil), ("-ume:p=w", "me:p=w"), ("-u", nil),
            ("--user", nil), ("-su", nil),
        ] as [(String, String?)])
    func secret(argument: String, wanted: String?) {
        let place = ArgumentSecrets.find(in: argument, as: nil).place
        let found = place.map { String(decoding: Array(argument.utf8)[$0], as: UTF8.self) }
        #expect(found == wanted)
    }

    @Test("the cookie of 'cookies set' is one, and nothing else of its operands")
    func cookie() {
        for (arguments, wanted) in [
            (["cookies", "set", "http://h/", "sid=1"], [3]), (["cookies", "set", "--junk", "h", "sid=1; Path=/"], [4]),
            (["cookies", "set", "h", "-"], [3]), (["cookies", "rm", "h", "sid"], []), (["get", "set", "a", "b=1"], []),
            (["cookies", "set", "h"], []),
        ] as [([String], [Int])] {
            var operands = ArgumentSecrets.CookieOperands()
            let found = arguments.indices.filter { operands.isCookie(arguments[$0]) }
            #expect(found == wanted, "\(arguments)")
        }
    }

    @Test(
        "are found behind their options",
        arguments: [
            ("-u", "ann:pw", "ann:pw"), ("-su", "ann:pw", "ann:pw"), ("--user", "-x", "-x"), ("-E", "c:pw", "c:pw"),
            ("--pass", "pw", "pw"), ("-b", "sid=1", "sid=1"), ("-b", "file", nil), ("-x", "p:q@h:3128", "p:q"),
            ("--socks5-hostname", "p:q@h", "p:q"), ("--url", "ann:pw@h/x", "ann:pw"), ("-d", "me@h", nil),
            ("-o", "a@b", nil), ("-H", "Cookie: a=b", " a=b"), ("-e", "http://ann:pw@h/", "ann:pw"),
            ("-s", "ann:pw@h", "ann:pw"),
        ] as [(String, String, String?)])
    func next(option: String, value: String, wanted: String?) {
        let kind = ArgumentSecrets.find(in: option, as: nil).next
        let place = ArgumentSecrets.find(in: value, as: kind).place
        let found = place.map { String(decoding: Array(value.utf8)[$0], as: UTF8.self) }
        #expect(found == wanted)
    }
}
