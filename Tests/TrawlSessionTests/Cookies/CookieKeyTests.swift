import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Keys of a table of cookies")
struct CookieKeyTests {
    private func digest(_ bytes: UnsafeRawBufferPointer) -> CookieDigest {
        var (high, low): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 17)
        for byte in bytes {
            high = (high ^ UInt64(byte)) &* 0x100_0000_01B3
            low = low &* 31 &+ UInt64(byte)
        }
        return CookieDigest(high: high, low: low)
    }

    private func key(
        _ name: String, _ domain: String, path: String = "/", isHostOnly: Bool = true, jar: UInt32 = 1
    ) throws -> [UInt8] {
        let cookie = Cookie(
            name: Array(name.utf8), value: [1 + 0x60], domain: domain, isHostOnly: isHostOnly, path: path,
            creation: noon)
        return try cookie.record(suffixes).withView { CookieKey.key(jar: jar, of: $0, digest: digest) }
    }

    private func prefixes(_ url: String, jar: UInt32 = 1, hasTopLevel: Bool = true) -> [[UInt8]] {
        var found: [[UInt8]] = []
        CookieTarget.with(url) { target in
            CookieKey.forEachPrefix(of: target, jar: jar, hasTopLevel: hasTopLevel) { found.append(Array($0)) }
        }
        return found
    }

    @Test(
        "the last label of a longer host is left out where nothing for it can go along",
        arguments: [
            ("http://a.b.org/", ["org.b", "org.b.a"]), ("http://b.org/", ["org.b"]), ("http://org/", ["org"]),
            ("http://10.0.0.1/", ["10.0.0.1"]),
        ])
    func topLevel(url: String, domains: [String]) {
        #expect(prefixes(url, hasTopLevel: false) == domains.map { [0, 0, 0, 1] + Array($0.utf8) + [0] })
    }

    @Test("a key is the jar, the domain backwards, a zero and the digest")
    func form() throws {
        let key = try key("n", "a.example.org", jar: 0x0102_0304)
        #expect(key.starts(with: [1, 2, 3, 4] + Array("org.example.a".utf8) + [0]))
        #expect(key.count == 4 + 13 + 1 + 16)
        #expect(try self.key("n", "10.0.0.1").starts(with: [0, 0, 0, 1] + Array("10.0.0.1".utf8) + [0]))
        let longest = "n." + String(repeating: "a", count: 253)
        #expect(try self.key("n", longest).count == CookieKey.limit)
    }

    @Test("name, path and host-only flag tell cookies of one domain apart")
    func identity() throws {
        let keys = [
            try key("n", "a.org"), try key("m", "a.org"), try key("n", "a.org", path: "/n"),
            try key("n/", "a.org", path: "/"), try key("n", "a.org", path: "//"),
            try key("n", "a.org", isHostOnly: false), try key("n", "a.org", jar: 2),
        ]
        #expect(Set(keys).count == keys.count)
        #expect(try key("n", "a.org") == keys[0])
    }

    @Test("all that can go along with a request lies behind its prefixes, which are in order")
    func prefixes() throws {
        let found = prefixes("http://a.b.example.org/")
        let texts = found.map { String(decoding: $0.dropFirst(4), as: UTF8.self) }
        #expect(texts == ["org\0", "org.example\0", "org.example.b\0", "org.example.b.a\0"])
        #expect(zip(found, found.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        #expect(prefixes("http://10.0.0.1/").map { $0.count } == [13])
        #expect(prefixes("http://\(String(repeating: "a", count: 256))/").isEmpty)
        for (domain, isFound) in [
            ("org", true), ("example.org", true), ("b.example.org", true), ("a.b.example.org", true),
            ("c.a.b.example.org", false), ("c.example.org", false), ("example.com", false), ("xample.org", false),
            ("b-x.example.org", false),
        ] {
            let key = try key("n", domain)
            #expect(found.contains { key.starts(with: $0) } == isFound, "\(domain)")
        }
    }

    @Test("the domains below one lie behind one prefix, and a jar is a range")
    func below() throws {
        let below = "example.org".latin1.withUnsafeBytes { CookieKey.below($0, jar: 1) }
        for (domain, isBelow) in [
            ("a.example.org", true), ("b.a.example.org", true), ("example.org", false), ("an.org", false),
        ] {
            #expect(try key("n", domain).starts(with: below) == isBelow)
            #expect(try key("n", domain).starts(with: CookieKey.jar(1)))
        }
    }
}
