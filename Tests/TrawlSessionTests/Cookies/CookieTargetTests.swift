import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Hosts and paths, RFC 6265bis §5.1")
struct CookieTargetTests {
    @Test(
        "the default path",
        arguments: [
            ("http://h/", "/"), ("http://h/a", "/"), ("http://h/a/", "/a"), ("http://h/a/b", "/a"),
            ("http://h/a/b/?/x/y", "/a/b"), ("http://h", "/"), ("http://h//", "/"), ("http://h/a//b", "/a/"),
        ])
    func defaultPath(url: String, path: String) {
        CookieTarget.with(url) { #expect(Array($0.defaultPath) == path.latin1) }
    }

    @Test(
        "paths that match",
        arguments: [
            ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/", "/a", true), ("/a/b", "/a", true),
            ("/ab", "/a", false), ("/a/b", "/a/", true), ("/a", "/a/", false), ("", "/", true), ("/A", "/a", false),
            ("/a", "", false),
        ])
    func paths(path: String, cookie: String, matches: Bool) {
        path.latin1.withUnsafeBytes { path in
            cookie.latin1.withUnsafeBytes { #expect(CookieTarget.pathMatches(path, $0) == matches) }
        }
    }

    @Test(
        "domains that match",
        arguments: [
            ("a.org", "a.org", true), ("b.a.org", "a.org", true), ("ba.org", "a.org", false), ("org", "a.org", false),
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "0.0.1", false), ("[::1]", "[::1]", true),
            ("[::ffff:1.2.3.4]", "3.4]", false), ("a.org", "", false), ("1.a1", "a1", true), (".a.org", "a.org", true),
        ])
    func domains(host: String, domain: String, matches: Bool) {
        host.latin1.withUnsafeBytes { host in
            domain.latin1.withUnsafeBytes { #expect(CookieTarget.domainMatches(host, $0) == matches) }
        }
    }

    @Test("the domains a cookie can be kept under")
    func above() {
        func all(_ url: String) -> [String] {
            var found: [String] = []
            CookieTarget.with(url) { $0.forEachDomain { found.append(String(decoding: $0, as: UTF8.self)) } }
            return found
        }
        #expect(all("http://a.b.example.org/") == ["a.b.example.org", "b.example.org", "example.org", "org"])
        #expect(all("http://10.0.0.1/") == ["10.0.0.1"])
        #expect(all("http://[::1]/") == ["[::1]"])
    }

    @Test(
        "what is secure",
        arguments: [
            ("https://a.org/", true, true), ("http://a.org/", false, false), ("http://localhost/", true, false),
            ("http://127.0.0.1/", true, false), ("http://127.3.4.5/", true, false), ("http://[::1]/", true, false),
            ("http://127.0.0.1.a.org/", false, false), ("http://localhost.a.org/", false, false),
            ("http://a.localhost/", false, false),
        ])
    func secure(url: String, direct: Bool, proxied: Bool) {
        #expect(CookieTarget.with(uri(url)) { $0.isSecure } == direct)
        #expect(CookieTarget.with(uri(url), trustsLoopback: false) { $0.isSecure } == proxied)
    }

    @Test(
        "the domain one owner has",
        arguments: [
            ("a.b.example.org", "example.org"), ("example.org", "example.org"), ("org", "org"),
            ("a.b.co.uk", "b.co.uk"),
            ("co.uk", "co.uk"), ("x.y.github.io", "y.github.io"), ("10.0.0.1", "10.0.0.1"), ("a.org.", "a.org."),
            ("b.a.org.", "a.org."),
        ])
    func registrable(host: String, domain: String) {
        host.latin1.withUnsafeBytes { host in
            #expect(String(decoding: suffixes.registrableDomain(of: host), as: UTF8.self) == domain)
        }
    }
}
