import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Which proxy a hop goes through, ASI-PRX-04, 05")
struct ProxyRulesTests {
    private static func way(_ environment: [String: String], _ url: String) throws -> String {
        let rules = try ProxyRules { environment[$0] }
        let parts = url.split(separator: ":", maxSplits: 1)
        let host = String(parts[1].dropFirst(2))
        let origin = Origin(scheme: String(parts[0]), host: host, port: parts[0] == "https" ? 443 : 80)
        return switch rules.choice(for: origin) {
        case .direct: "direct"
        case .through(let proxy): proxy.text
        case .script(let place): "script \(place)"
        }
    }

    @Test(
        "the environment",
        arguments: [
            ([:], "http://o.test", "direct"),
            (["http_proxy": "a:1"], "http://o.test", "http://a:1"),
            (["http_proxy": "a:1"], "https://o.test", "direct"),
            (["HTTP_PROXY": "a:1"], "http://o.test", "direct"),
            (["HTTP_PROXY": "a:1", "REQUEST_METHOD": "GET"], "http://o.test", "direct"),
            (["HTTP_PROXY": "a:1", "http_proxy": "b:1"], "http://o.test", "http://b:1"),
            (["https_proxy": "a:1"], "https://o.test", "http://a:1"),
            (["HTTPS_PROXY": "a:1"], "https://o.test", "http://a:1"),
            (["HTTPS_PROXY": "a:1", "https_proxy": "https://b:1"], "https://o.test", "https://b:1"),
            (["all_proxy": "socks5h://a:1"], "http://o.test", "socks5h://a:1"),
            (["ALL_PROXY": "a:1"], "https://o.test", "http://a:1"),
            (["ALL_PROXY": "a:1", "all_proxy": "b:1"], "https://o.test", "http://b:1"),
            (["all_proxy": "a:1", "http_proxy": "b:1"], "http://o.test", "http://b:1"),
            (["http_proxy": "", "all_proxy": "a:1"], "http://o.test", "http://a:1"),
            (["http_proxy": "a:1", "no_proxy": "o.test"], "http://o.test", "direct"),
            (["http_proxy": "a:1", "NO_PROXY": "o.test"], "http://o.test", "direct"),
            (["http_proxy": "a:1", "no_proxy": "x.test", "NO_PROXY": "o.test"], "http://o.test", "http://a:1"),
            (["http_proxy": "a:1", "no_proxy": "*"], "http://o.test", "direct"),
            (["auto_proxy": "http://w/p.pac"], "http://o.test", "script http://w/p.pac"),
            (["auto_proxy": "http://w/p.pac", "http_proxy": "a:1"], "http://o.test", "http://a:1"),
            (["auto_proxy": "http://w/p.pac", "http_proxy": "a:1"], "https://o.test", "script http://w/p.pac"),
            (["auto_proxy": "http://w/p.pac", "no_proxy": "o.test"], "https://o.test", "direct"),
        ] as [([String: String], String, String)])
    func environment(variables: [String: String], url: String, expected: String) throws {
        #expect(try Self.way(variables, url) == expected)
    }

    @Test("a variable that is no proxy is named, and its value is not")
    func fault() {
        let expected = ProxyRules.EnvironmentFault(variable: "HTTPS_PROXY", fault: .scheme)
        #expect(throws: expected) { try ProxyRules { $0 == "HTTPS_PROXY" ? "gopher://u:secret@h" : nil } }
    }

    @Test(
        "what a script returns",
        arguments: [
            ("DIRECT", ["direct"]),
            ("PROXY a:1", ["http://a:1"]),
            ("PROXY a:1; PROXY b:2; DIRECT", ["http://a:1", "http://b:2", "direct"]),
            (" proxy  A.test:1 ;direct", ["http://a.test:1", "direct"]),
            ("PROXY a", ["http://a:80"]),
            ("HTTP a:1", ["http://a:1"]),
            ("HTTPS a", ["https://a:443"]),
            ("SOCKS a:1", ["socks4a://a:1"]),
            ("SOCKS4 a", ["socks4a://a:1080"]),
            ("SOCKS5 [::1]:9", ["socks5h://[::1]:9"]),
            ("PROXY a:1; PROXY a:1; DIRECT; DIRECT", ["http://a:1", "direct"]),
            ("", ["direct"]), (" ; ;", ["direct"]), ("null", []), ("PROXY", []),
            ("PROXY a:99999", []), ("PROXY a:1 b:2", []), ("QUIC a:1; PROXY b:2", ["http://b:2"]),
            ("PROXY u:p@a:1", []), ("PROXY a:1\r\nX: y; DIRECT", ["direct"]), ("DIRECT x", []),
            ("PROXY http://a:1", []),
        ] as [(String, [String])])
    func lists(text: String, expected: [String]) {
        #expect((ProxyList(text)?.ways ?? []).map { $0?.text ?? "direct" } == expected)
    }

    @Test("a list has no more ways than could be tried")
    func longList() {
        let text = (1...1000).map { "PROXY p:\($0)" }.joined(separator: ";")
        #expect(ProxyList(text)?.ways.count == 16)
    }
}
