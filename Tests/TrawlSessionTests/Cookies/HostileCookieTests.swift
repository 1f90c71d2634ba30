import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Hostile lines")
struct HostileCookieTests {
    private static let hosts = ["a.org", "b.a.org", "c.b.a.org", "x.co.uk", "10.0.0.1", "[::1]", "localhost"]
    private static let pieces = [
        "a", "b", "=", "=", ";", ";", " ", "\t", "\"", ",", "path", "path=/", "path=/p/q", "domain", "domain=a.org",
        "domain=.b.a.org", "domain=co.uk", "domain=10.0.0.1", "secure", "httponly", "max-age=0", "max-age=5",
        "max-age=-9", "expires=Sat, 21 Nov 2026 12:01:00 GMT", "__Host-", "__Secure-", "samesite=lax", "\u{FF}",
        "\u{80}",
    ]

    /// What the jar holds, written down plainly.
    private struct Model {
        var cookies: [Cookie] = []

        /// Longer paths, then older ones; the list is in the order of creation.
        func field(_ host: String, _ path: String, isSecure: Bool, at now: WallTime) -> String? {
            let sent = cookies.filter { cookie in
                let isInDomain =
                    host == cookie.domain
                    || !cookie.isHostOnly && host.hasSuffix("." + cookie.domain) && !host.hasPrefix("[")
                        && host != "10.0.0.1"
                let isInPath =
                    path == cookie.path || path.hasPrefix(cookie.path.hasSuffix("/") ? cookie.path : cookie.path + "/")
                return isInDomain && isInPath && (!cookie.isSecure || isSecure)
                    && (cookie.expiry.map { $0 > now } ?? true)
            }
            let sorted = sent.enumerated().sorted {
                let (left, right) = ($0.element.path.utf8.count, $1.element.path.utf8.count)
                return left != right ? left > right : $0.offset < $1.offset
            }
            let text = sorted.map {
                ($0.element.name.isEmpty ? "" : $0.element.nameTextOfBytes + "=") + $0.element.valueTextOfBytes
            }
            return text.isEmpty ? nil : text.joined(separator: "; ")
        }

        /// A secure cookie of the name that would go to the same places.
        func holdsSecure(like new: Cookie, at now: WallTime) -> Bool {
            func isBelow(_ low: String, _ high: String) -> Bool {
                low == high || low.hasSuffix("." + high) && !low.hasPrefix("[") && low != "10.0.0.1"
            }
            return cookies.contains { old in
                old.isSecure && old.name == new.name && (old.expiry.map { $0 > now } ?? true)
                    && (isBelow(old.domain, new.domain) || isBelow(new.domain, old.domain))
                    && (new.path == old.path || new.path.hasPrefix(old.path.hasSuffix("/") ? old.path : old.path + "/"))
            }
        }

        mutating func store(_ new: Cookie, at now: WallTime) {
            cookies.removeAll { $0.expiry.map { $0 <= now } ?? false }
            let place = cookies.firstIndex {
                $0.name == new.name && $0.domain == new.domain && $0.isHostOnly == new.isHostOnly && $0.path == new.path
            }
            if let expiry = new.expiry, expiry <= now {
                if let place { cookies.remove(at: place) }
            } else if let place {
                cookies[place] = new
            } else {
                cookies.append(new)
            }
        }
    }

    @Test("random lines from many hosts leave what a plain list would hold", arguments: 1...20 as ClosedRange<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var jar = CookieJar()
        var model = Model()
        for step in 0..<600 {
            let now = noon.plus(seconds: Int64(step))
            let host = random.pick(Self.hosts)
            let path = random.pick(["/", "/p/q", "/p/q/r"])
            let url = "\(random.bool() ? "https" : "http")://\(host)\(path)"
            if random.bool() {
                let line = (0..<Int.random(in: 1...12, using: &random)).map { _ in random.pick(Self.pieces) }.joined()
                let outcome = jar.receive(line, from: url, under: CookieConditions(suffixes: suffixes), at: now)
                let received = CookieTarget.with(url) { target in
                    line.latin1.withUnsafeBytes {
                        try? CookieRules.receive($0, from: target, under: CookieConditions(suffixes: suffixes), at: now)
                    }
                }
                guard let received else { continue }
                let cookie = received.record.withView { Cookie($0) }
                let hides = received.mustSpareSecure && model.holdsSecure(like: cookie, at: now)
                #expect(hides == (outcome == .failure(.hidesSecure)), "seed \(seed) step \(step)")
                if !hides { model.store(cookie, at: now) }
            } else {
                let isSecure = url.hasPrefix("https") || ["localhost", "[::1]", "127.0.0.1"].contains(host)
                let expected = model.field(host, path, isSecure: isSecure, at: now)
                #expect(jar.field(for: url, at: now) == expected, "seed \(seed) step \(step)")
            }
        }
    }

    @Test("random bytes do not trap, and nothing they leave breaks a field")
    func bytes() {
        var random = SeededGenerator(seed: 9)
        var jar = CookieJar(limits: CookieLimits(perDomain: 20, total: 30))
        CookieTarget.with("https://b.a.org/p/q") { target in
            for _ in 0..<20_000 {
                let line = random.bytes(upTo: 60).map { random.next() % 4 == 0 ? $0 : $0 | 0x20 }
                _ = try? line.withUnsafeBytes { try jar.receive($0, from: target, at: noon) }
                let field = jar.field(for: target, at: noon) ?? []
                if !field.withUnsafeBytes({ $0.isFreeOfControls() }) { Issue.record("control byte in \(field)") }
            }
            #expect(jar.count > 0 && jar.count <= 20)
        }
    }

    @Test("10,000 cookies of one response cost no more room than the limit")
    func flood() {
        var jar = CookieJar()
        for index in 0..<10_000 {
            jar.receive(
                "n\(index)=\(String(repeating: "x", count: 100)); domain=a.org", from: "http://b.a.org/", at: noon)
        }
        // At 181 there are 162 left; so it is after each 19 more.
        #expect(jar.count == 177)
        let field = jar.field(for: "http://a.org/") ?? ""
        #expect(field.hasPrefix("n9823=") && field.contains("n9999="))
    }

    @Test("one long line of attributes is read once")
    func longLine() {
        var jar = CookieJar()
        let line = "a=b" + String(repeating: ";path=/x;domain=a.org;max-age=9", count: 10_000)
        #expect(jar.receive(line, from: "http://a.org/") == .success(.insert))
        #expect(jar.receive("a" + String(repeating: "=", count: 300_000), from: "http://a.org/") == .failure(.tooLong))
        #expect(jar.receive(String(repeating: ";", count: 300_000), from: "http://a.org/") == .failure(.empty))
    }

    @Test("a host of many labels is looked up under each")
    func labels() {
        var jar = CookieJar()
        let host = (0..<120).map { _ in "a" }.joined(separator: ".") + ".org"
        jar.receive("x=1; domain=a.org", from: "http://a.org/", under: CookieConditions(suffixes: suffixes))
        #expect(jar.field(for: "http://\(host)/") == "x=1")
    }
}

extension Cookie {
    fileprivate var nameTextOfBytes: String { name.withUnsafeBytes(FieldLines.latin1) }
    fileprivate var valueTextOfBytes: String { value.withUnsafeBytes(FieldLines.latin1) }
}
