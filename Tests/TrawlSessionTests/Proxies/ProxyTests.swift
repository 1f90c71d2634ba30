import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("A proxy's URL, as curl reads -x")
struct ProxyTests {
    @Test(
        "kind, host and port",
        arguments: [
            ("proxy.test", "http://proxy.test:1080"),
            ("proxy.test:3128", "http://proxy.test:3128"),
            ("PROXY.Test:", "http://proxy.test:1080"),
            ("http://proxy.test:8080/", "http://proxy.test:8080"),
            ("http://proxy.test:8080/path?x#y", "http://proxy.test:8080"),
            ("HTTPS://proxy.test", "https://proxy.test:443"),
            ("socks://h:1", "socks4://h:1"),
            ("socks4://h", "socks4://h:1080"),
            ("socks4a://h:1", "socks4a://h:1"),
            ("socks5://h:1", "socks5://h:1"),
            ("socks5h://h:1", "socks5h://h:1"),
            ("[::1]:3128", "http://[::1]:3128"),
            ("https://[2001:DB8::1]", "https://[2001:db8::1]:443"),
            ("[FE80::1%25Eth0]:3128", "http://[fe80::1%25Eth0]:3128"),
            (" 127.0.0.1:3128 ", "http://127.0.0.1:3128"),
            ("h_o-st.x:65535", "http://h_o-st.x:65535"),
        ])
    func places(text: String, expected: String) throws {
        let proxy = try Proxy(text)
        #expect(proxy.text == expected)
        #expect(proxy.credentials == nil)
    }

    @Test(
        "user and password are split off and percent-decoded",
        arguments: [
            ("http://u:p@h:1", "u", "p"),
            ("u:p@h:1", "u", "p"),
            ("u@h", "u", ""),
            ("u:@h", "u", ""),
            (":p@h", "", "p"),
            ("u:a:b@h", "u", "a:b"),
            ("u:p@ss@h", "u", "p@ss"),
            ("us%3Aer:p%40%2F%c3%a9@h", "us:er", "p@/é"),
        ])
    func credentials(text: String, user: String, password: String) throws {
        let proxy = try Proxy(text)
        #expect(proxy.host == "h")
        #expect(proxy.credentials?.kind == .password(user: user, password: Secret(password), domain: ""))
    }

    @Test("an empty user information is none")
    func noCredentials() throws {
        #expect(try Proxy("@h").credentials == nil)
        #expect(try Proxy(":@h").credentials == nil)
    }

    @Test(
        "what is no proxy is refused",
        arguments: [
            ("", ProxyFault.host), ("http://", .host), ("http://:80", .host), ("ftp://h:1", .scheme), ("h:0", .port),
            ("h:65536", .port), ("h:8x", .port), ("h:+8", .port), ("[::1", .host), ("[::1]x", .host), ("[zz]:1", .host),
            ("[fe80::1%25]:1", .host), ("[fe80::1%eth0]:1", .host), ("[fe80::1%25a b]:1", .host),
            ("h ost:1", .host), ("h\u{0}:1", .host), ("hé:1", .host), ("u:%zz@h", .userInformation),
            ("u:%4@h", .userInformation), ("u:%0a@h", .userInformation), ("u:%ff@h", .userInformation),
            ("h:1\r\nX: y", .port),
        ] as [(String, ProxyFault)])
    func refused(text: String, fault: ProxyFault) {
        #expect(throws: fault) { try Proxy(text) }
    }

    @Test("no way of printing shows user or password")
    func secrecy() throws {
        let proxy = try Proxy("http://planteduser:plantedword@h:1")
        var dumped = ""
        dump(ProxyRules(proxy), to: &dumped)
        for text in ["\(proxy)", String(reflecting: proxy), dumped, "\(ProxyRules(proxy))"] {
            #expect(!text.contains("planteduser"))
            #expect(!text.contains("plantedword"))
        }
    }
}
