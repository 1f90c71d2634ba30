import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Hosts without a proxy, ASI-PRX-09")
struct BypassListTests {
    @Test(
        "each form of an entry",
        arguments: [
            ("*", "anything.test", true),
            ("", "anything.test", false),
            (" , ,", "anything.test", false),
            ("example.org", "example.org", true),
            ("EXAMPLE.org", "example.org", true),
            ("example.org", "www.example.org", true),
            ("example.org", "notexample.org", false),
            ("example.org", "example.org.test", false),
            ("example.org", "org", false),
            (".example.org", "example.org", true),
            (".example.org", "www.example.org", true),
            ("*.example.org", "www.example.org", true),
            ("*.example.org", "example.org", false),
            ("example.org.", "example.org", true),
            ("example.org", "example.org.", true),
            ("a.test, b.test c.test", "c.test", true),
            ("a.test,b.test", "b.test", true),
            ("<local>", "intranet", true),
            ("<local>", "intranet.test", false),
            ("<LOCAL>", "localhost", true),
            ("<local>", "127.0.0.1", false),
            ("<local>", "[::1]", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.11", false),
            ("0.0.1", "127.0.0.1", false),
            ("192.0.2.0/24", "192.0.2.255", true),
            ("192.0.2.0/24", "192.0.3.0", false),
            ("192.0.2.77/25", "192.0.2.128", false),
            ("192.0.2.0/0", "10.0.0.1", true),
            ("0.0.0.0/0", "[::1]", false),
            ("10.0.0.0/8", "[::ffff:10.1.2.3]", true),
            ("192.0.2.0/33", "192.0.2.1", false),
            ("192.0.2.0/", "192.0.2.0", false),
            ("192.0.2.0/x", "192.0.2.0", false),
            ("::1", "[::1]", true),
            ("[::1]", "[::1]", true),
            ("0:0::1", "[::1]", true),
            ("2001:db8::/32", "[2001:db8:ffff::1]", true),
            ("2001:db8::/32", "[2001:db9::1]", false),
            ("[2001:db8::]/32", "[2001:db8::1]", true),
            ("fe80::/10", "[febf::1]", true),
            ("fe80::/10", "[fec0::1]", false),
            ("fe80::/10", "[fe80::1%25eth0]", true),
            ("fe80::1", "[fe80::1%25eth0]", true),
            ("2001:db8::/32", "[fe80::1%25eth0]", false),
            ("<local>", "[fe80::1%25eth0]", false),
            ("*.*", "a.b", false),
            ("exa*.org", "example.org", false),
        ])
    func hosts(list: String, host: String, expected: Bool) {
        #expect(BypassList(list).covers(Origin(scheme: "http", host: host, port: 80)) == expected)
    }

    @Test(
        "a port",
        arguments: [
            ("example.org:8080", "example.org", 8080, true), ("example.org:8080", "example.org", 80, false),
            ("example.org:8080", "www.example.org", 8080, true), ("127.0.0.1:81", "127.0.0.1", 81, true),
            ("127.0.0.1:81", "127.0.0.1", 82, false), ("[::1]:443", "[::1]", 443, true),
            ("[::1]:443", "[::1]", 80, false), ("example.org:", "example.org", 80, false),
            ("example.org:x", "example.org", 80, false), ("example.org:0", "example.org", 80, false),
        ] as [(String, String, UInt16, Bool)])
    func ports(list: String, host: String, port: UInt16, expected: Bool) {
        #expect(BypassList(list).covers(Origin(scheme: "http", host: host, port: port)) == expected)
    }

    @Test(
        "addresses are read as RFC 3986 and RFC 4291 have them",
        arguments: [
            ("1.2.3.4", true), ("01.2.3.4", false), ("1.2.3", false), ("1.2.3.256", false), ("1.2.3.4.", false),
            ("::", true), ("1::", true), ("::1.2.3.4", true), ("1:2:3:4:5:6:7:8", true), ("1:2:3:4:5:6:7", false),
            ("1:2:3:4:5:6:7::", true), ("1::2::3", false), (":1", false), ("1:", false), ("::12345", false),
            ("1:2:3:4:5:6:7:8:9", false), ("::1.2.3.4:5", false), ("[1.2.3.4]", false), ("::g", false), (":::", false),
            ("::+1", false), ("", false),
        ])
    func addresses(text: String, isOne: Bool) {
        #expect((IPAddress(text) != nil) == isOne)
        #expect((IPAddress(host: text) != nil) == isOne)
    }

    @Test(
        "a URL's address may have a zone (RFC 6874 §2)",
        arguments: [
            ("[fe80::1%25eth0]", true), ("[fe80::1%2525]", true), ("[fe80::1%25]", false), ("[fe80::1%eth0]", false),
            ("[fe80::1%25eth0", false), ("fe80::1%25eth0", false), ("[fe80::g%25eth0]", false), ("[%25eth0]", false),
        ])
    func zones(host: String, isOne: Bool) {
        #expect(IPAddress(host: host) == (isOne ? IPAddress("fe80::1") : nil))
        #expect(IPAddress(host) == nil)
    }
}
