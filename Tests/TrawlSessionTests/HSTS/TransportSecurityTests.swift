import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("HTTP Strict Transport Security, RFC 6797")
struct TransportSecurityTests {
    private func policy(_ value: String) -> TransportSecurityPolicy? {
        var value = value
        return value.withUTF8 { TransportSecurityPolicy(UnsafeRawBufferPointer($0)) }
    }

    @Test(
        "values that say something, §6.1, §6.2",
        arguments: [
            ("max-age=31536000", 31_536_000, false), ("max-age=15768000 ; includeSubDomains", 15_768_000, true),
            ("max-age=\"31536000\"", 31_536_000, false), ("max-age=0", 0, false),
            ("max-age=0; includeSubDomains", 0, true), ("includesubdomains;MAX-AGE=5", 5, true),
            (" ;; max-age = 7 ;", 7, false), ("max-age=1; preload", 1, false),
            ("max-age=1; what=\"a;b\\\"c\"", 1, false),
            ("max-age=99999999999999999999999", Int64.max, false), ("max-age=00012", 12, false),
        ])
    func readable(value: String, maxAge: Int64, includes: Bool) {
        #expect(policy(value) == TransportSecurityPolicy(maxAge: maxAge, includesSubdomains: includes))
    }

    @Test(
        "values that say nothing",
        arguments: [
            "", ";", "includeSubDomains", "max-age", "max-age=", "max-age=-1", "max-age=1.5", "max-age=1 2",
            "max-age=x",
            "max-age=1; max-age=2", "max-age=1; Max-Age=1", "max-age=1; includeSubDomains; includeSubDomains",
            "max-age=1; includeSubDomains=1", "max-age=\"1", "max-age=1, includeSubDomains", "=1", "max-age=1; x; X",
            "max-age=1; \"x\"", "max-age=١",
        ])
    func unreadable(value: String) {
        #expect(policy(value) == nil)
    }

    @Test("the first line counts, §8.1")
    func lines() throws {
        var fields = FieldLines()
        try fields.append("Strict-Transport-Security", "max-age=1")
        try fields.append("strict-transport-security", "max-age=2")
        #expect(TransportSecurityPolicy(fields)?.maxAge == 1)
        var broken = FieldLines()
        try broken.append("Strict-Transport-Security", "what")
        try broken.append("Strict-Transport-Security", "max-age=2")
        #expect(TransportSecurityPolicy(broken) == nil)
    }

    private func target(_ url: String, host: String, port: UInt16) -> TargetURI {
        let scheme = String(url.prefix { $0 != ":" })
        return TargetURI(
            origin: Origin(scheme: scheme, host: host, port: port), path: "/", query: nil, fragment: nil, user: nil,
            password: nil, text: url)
    }

    @Test("who is believed: a name over verified TLS, never an address, never in clear, §7.2, §8.1")
    func changes() throws {
        var fields = FieldLines()
        try fields.append("Strict-Transport-Security", "max-age=10; includeSubDomains")
        let now = WallTime(seconds: 1000)
        func change(_ url: String, _ host: String, _ port: UInt16 = 443, verified: Bool = true) -> TransportSecurity
            .Change?
        {
            TransportSecurity.change(
                by: fields, from: target(url, host: host, port: port), isVerified: verified, at: now)
        }
        let kept = KnownSecureHost(name: "a.test", expires: WallTime(seconds: 1010), includesSubdomains: true)
        #expect(change("https://a.test/", "a.test") == .keep(kept))
        #expect(change("https://a.test:8443/", "a.test", 8443) == .keep(kept))
        #expect(change("https://a.test./", "a.test.") == .keep(kept))
        #expect(change("http://a.test/", "a.test", 80) == nil)
        #expect(change("https://a.test/", "a.test", verified: false) == nil)
        #expect(change("https://127.0.0.1/", "127.0.0.1") == nil)
        #expect(change("https://[::1]/", "[::1]") == nil)
        var ended = FieldLines()
        try ended.append("Strict-Transport-Security", "max-age=0")
        #expect(
            TransportSecurity.change(
                by: ended, from: target("https://a.test/", host: "a.test", port: 443), isVerified: true, at: now)
                == .forget("a.test"))
    }

    @Test(
        "which hosts are meant, §8.2",
        arguments: [
            ("one.test", true), ("ONE.test.", true), ("a.one.test", false), ("all.test", true), ("a.all.test", true),
            ("b.a.all.test", true), ("notall.test", false), ("test", false), ("old.test", false), ("a.old.test", false),
            ("x.in.all.test", true), ("127.0.0.1", false), ("[::1]", false), ("", false), (".", false),
        ])
    func matching(host: String, isSecure: Bool) {
        let later = WallTime(seconds: 100)
        let known = [
            KnownSecureHost(name: "one.test", expires: later, includesSubdomains: false),
            KnownSecureHost(name: "all.test", expires: later, includesSubdomains: true),
            // Beneath one that includes it, and itself for no others.
            KnownSecureHost(name: "in.all.test", expires: later, includesSubdomains: false),
            KnownSecureHost(name: "old.test", expires: WallTime(seconds: 50), includesSubdomains: true),
            KnownSecureHost(name: "1", expires: later, includesSubdomains: true),
        ]
        let now = WallTime(seconds: 50)
        let standing = TransportSecurity.standing(of: host) { name in known.first { $0.name == name } }
        #expect(standing.isSecure(at: now) == isSecure)
    }

    @Test("how a host stands tells the latest end of all that mean it, and what is known of itself")
    func standing() {
        let known = [
            KnownSecureHost(name: "a.all.test", expires: WallTime(seconds: 60), includesSubdomains: false),
            KnownSecureHost(name: "all.test", expires: WallTime(seconds: 70), includesSubdomains: true),
        ]
        func standing(_ host: String) -> TransportSecurity.Standing {
            TransportSecurity.standing(of: host) { name in known.first { $0.name == name } }
        }
        #expect(standing("a.all.test").host == known[0])
        #expect(standing("a.all.test").secureUntil == WallTime(seconds: 70))
        #expect(standing("b.all.test").host == nil)
        #expect(standing("b.all.test").secureUntil == WallTime(seconds: 70))
        #expect(standing("127.0.0.1") == .init() && standing("other.test") == .init())
    }

    @Test("a policy that is repeated changes nothing; another flag, end or none does")
    func repeated() {
        let now = WallTime(seconds: 1_000_000)
        func change(_ seconds: Int64, includes: Bool = false) -> TransportSecurity.Change {
            .keep(
                KnownSecureHost(
                    name: "a.test", expires: WallTime(seconds: 1_000_000 + seconds), includesSubdomains: includes))
        }
        func changesNothing(_ new: TransportSecurity.Change, to old: TransportSecurity.Change?) -> Bool {
            TransportSecurity.changesNothing(new, to: old?.host, at: now)
        }
        let year: Int64 = 31_536_000
        #expect(changesNothing(change(year), to: change(year)))
        #expect(changesNothing(change(year), to: change(year - 86_399)))
        #expect(!changesNothing(change(year), to: change(year - 86_400)))
        #expect(!changesNothing(change(year), to: change(year + 86_400)))
        #expect(changesNothing(change(600), to: change(595)))
        #expect(!changesNothing(change(600), to: change(594)))
        #expect(!changesNothing(change(year), to: change(year, includes: true)))
        #expect(!changesNothing(change(year), to: nil) && !changesNothing(change(1), to: change(0)))
        #expect(changesNothing(.forget("a.test"), to: nil) && !changesNothing(.forget("a.test"), to: change(1)))
    }

    @Test("the port stays, unless it is http's own, §8.3")
    func upgrades() {
        #expect(
            TransportSecurity.upgrade(target("http://a.test/x?y", host: "a.test", port: 80)) == "https://a.test/x?y")
        #expect(
            TransportSecurity.upgrade(target("http://a.test:8080/", host: "a.test", port: 8080))
                == "https://a.test:8080/")
        #expect(TransportSecurity.upgrade(target("https://a.test/", host: "a.test", port: 443)) == nil)
        let ports: [UInt16] = [80, 443, 8080]
        let origins = ports.map { TransportSecurity.upgrade(Origin(scheme: "http", host: "a.test", port: $0)) }
        #expect(origins.map(\.text) == ["https://a.test", "https://a.test", "https://a.test:8080"])
        let secure = Origin(scheme: "https", host: "a.test", port: 80)
        #expect(TransportSecurity.upgrade(secure) == secure)
    }
}

@Suite("The file of curl's --hsts")
struct SecureHostsFileTests {
    @Test("hosts come back as they were written")
    func roundTrip() {
        let hosts = [
            KnownSecureHost(name: "a.test", expires: WallTime(seconds: 1_795_257_630), includesSubdomains: true),
            KnownSecureHost(name: "b.test", expires: WallTime(seconds: 951_782_399), includesSubdomains: false),
            KnownSecureHost(name: "c.test", expires: WallTime(milliseconds: .max), includesSubdomains: false),
        ]
        let text = SecureHostsFile.text(of: hosts)
        #expect(text.contains("\n.a.test \"20261121 ") && text.contains("\nb.test \"20000228 23:59:59\""))
        #expect(text.contains("\nc.test \"unlimited\"\n"))
        #expect(SecureHostsFile.read(text) == hosts)
    }

    @Test("lines that make no sense are passed over")
    func odd() {
        let text = """
            # a comment
            a.test
            127.0.0.1 "20300101 00:00:00"
            .x.test "20301301 00:00:00"
            w.test "20300229 00:00:00"
            y.test "2030 00:00:00"

            .Z.test\t"20300101 00:00:00"\r
            """
        #expect(SecureHostsFile.read(text).map(\.name) == ["z.test"])
    }
}
