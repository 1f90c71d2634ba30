import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("A jar in memory")
struct CookieJarTests {
    private let conditions = CookieConditions(suffixes: suffixes)

    @Test("cookies go to their host, or to their domain, and to paths below theirs")
    func retrieval() {
        var jar = CookieJar()
        jar.receive("host=1", from: "http://a.x.org/p/q")
        jar.receive("domain=2; domain=x.org; path=/", from: "http://a.x.org/p/q")
        #expect(jar.field(for: "http://a.x.org/p/z") == "host=1; domain=2")
        #expect(jar.field(for: "http://a.x.org/pz") == "domain=2")
        #expect(jar.field(for: "http://b.x.org/p") == "domain=2")
        #expect(jar.field(for: "http://x.org/") == "domain=2")
        #expect(jar.field(for: "http://b.a.x.org/p") == "domain=2")
        #expect(jar.field(for: "http://xx.org/") == nil)
        #expect(jar.field(for: "http://org/") == nil)
    }

    @Test("longer paths go first, then older cookies, and a new value keeps the age of the old one")
    func order() {
        var jar = CookieJar()
        jar.receive("a=1; path=/", from: "http://x.org/", at: noon)
        jar.receive("b=2; path=/", from: "http://x.org/", at: noon)
        jar.receive("c=3; path=/p", from: "http://x.org/", at: noon)
        jar.receive("d=4; path=/; domain=x.org", from: "http://x.org/", at: noon.plus(seconds: -1))
        jar.receive("a=5; path=/", from: "http://x.org/", at: noon.plus(seconds: 9))
        #expect(jar.field(for: "http://x.org/p") == "c=3; d=4; a=5; b=2")
        #expect(jar.count == 4)
    }

    @Test("many cookies of one length of path stay in order")
    func longOrder() {
        var jar = CookieJar()
        for index in 0..<60 { jar.receive("n\(index)=; path=/\(index % 3 == 0 ? "p" : "")", from: "http://x.org/") }
        let names = jar.field(for: "http://x.org/p")?.split(separator: " ").map { Int($0.filter(\.isNumber)) ?? -1 }
        let all = Array(0..<60)
        #expect(names == all.filter { $0 % 3 == 0 } + all.filter { $0 % 3 != 0 })
    }

    @Test("Secure goes over secure connections only, and host-only and domain cookies are apart")
    func secure() {
        var jar = CookieJar()
        jar.receive("a=1; secure", from: "https://x.org/")
        jar.receive("b=2; domain=x.org", from: "https://x.org/")
        jar.receive("b=3", from: "https://x.org/")
        #expect(jar.field(for: "https://x.org/") == "a=1; b=2; b=3")
        #expect(jar.field(for: "http://x.org/") == "b=2; b=3")
        jar.receive("l=1; secure", from: "http://localhost/")
        #expect(jar.field(for: "http://localhost/") == "l=1")
    }

    @Test("a connection that is not secure cannot hide a secure cookie, above or below its domain")
    func leaveSecureAlone() {
        var jar = CookieJar()
        jar.receive("a=1; secure; path=/login", from: "https://b.x.org/")
        let refused: Result<CookieChange, CookieRefusal> = .failure(.hidesSecure)
        #expect(jar.receive("a=2; path=/login", from: "http://b.x.org/") == refused)
        #expect(jar.receive("a=2; path=/login/en", from: "http://b.x.org/") == refused)
        #expect(jar.receive("a=2; path=/login; domain=x.org", from: "http://c.x.org/") == refused)
        #expect(jar.receive("a=2; path=/login", from: "http://c.b.x.org/") == refused)
        #expect(jar.receive("a=; path=/login; max-age=0", from: "http://b.x.org/") == refused)
        #expect(jar.receive("a=2; path=/", from: "http://b.x.org/") == .success(.insert))
        #expect(jar.receive("a=2; path=/login", from: "http://c.x.org/") == .success(.insert))
        #expect(jar.receive("b=2; path=/login", from: "http://b.x.org/") == .success(.insert))
        #expect(jar.receive("a=3; path=/login", from: "https://b.x.org/") == .success(.replace))
        #expect(jar.receive("a=2; path=/login", from: "http://b.x.org/") == .success(.replace))
    }

    @Test("a secure cookie whose time is over protects nothing")
    func expiredSecure() {
        var jar = CookieJar()
        jar.receive("a=1; secure; max-age=5", from: "https://x.org/")
        #expect(jar.receive("a=2", from: "http://x.org/", at: noon.plus(seconds: 4)) == .failure(.hidesSecure))
        #expect(jar.receive("a=2", from: "http://x.org/", at: noon.plus(seconds: 5)) == .success(.replace))
    }

    @Test("cookies end when they say, and an end in the past removes them")
    func expiry() {
        var jar = CookieJar()
        jar.receive("a=1; max-age=10", from: "http://x.org/")
        jar.receive("b=1", from: "http://x.org/")
        #expect(jar.field(for: "http://x.org/", at: noon.plus(seconds: 9)) == "a=1; b=1")
        #expect(jar.field(for: "http://x.org/", at: noon.plus(seconds: 10)) == "b=1")
        #expect(jar.pairs(at: noon.plus(seconds: 10)) == ["b=1"])
        #expect(jar.receive("b=; max-age=0", from: "http://x.org/") == .success(.remove))
        #expect(jar.receive("b=; max-age=0", from: "http://x.org/") == .success(.nothing))
        #expect(jar.remove { $0.isExpired(at: noon.plus(seconds: 10)) } == 1)
        #expect(jar.count == 0)
    }

    @Test("what a session accepted goes with it, older cookies stay")
    func sessions() {
        var jar = CookieJar()
        jar.receive("old=1; max-age=100", from: "http://x.org/")
        jar.receive("both=1; max-age=100", from: "http://x.org/")
        let session = CookieConditions(suffixes: suffixes, session: 3)
        jar.receive("new=1; max-age=100", from: "http://x.org/", under: session)
        jar.receive("both=2; max-age=100", from: "http://x.org/", under: session)
        #expect(jar.removeAccepted(in: 3) == 2)
        #expect(jar.pairs() == ["old=1"])
    }

    @Test("session cookies, cookies since a moment, and all of them can be removed; each change is counted")
    func removing() {
        var jar = CookieJar()
        jar.receive("a=1; max-age=100", from: "http://x.org/")
        jar.receive("b=1", from: "http://y.org/")
        jar.receive("c=1; max-age=100", from: "http://z.org/", at: noon.plus(seconds: 5))
        let generation = jar.generation
        #expect(jar.remove { !$0.flags.contains(.persistent) } == 1)
        #expect(jar.generation == generation + 1)
        #expect(jar.remove { $0.creation >= noon.plus(seconds: 5) } == 1)
        #expect(jar.pairs() == ["a=1"])
        #expect(jar.remove { $0.domain.isEmpty } == 0)
        #expect(jar.generation == generation + 2)
        jar.removeAll()
        #expect(jar.count == 0)
        #expect(jar.field(for: "http://x.org/") == nil)
    }

    @Test("a domain keeps its limit: what was used last longest ago goes, secure cookies after the others")
    func perDomain() {
        var jar = CookieJar(limits: CookieLimits(perDomain: 3))
        jar.receive("s=1; secure", from: "https://x.org/", at: noon.plus(seconds: -10_000))
        jar.receive("a=1; path=/a", from: "https://x.org/", at: noon.plus(seconds: -9000))
        jar.receive("b=1; path=/b", from: "https://x.org/", at: noon.plus(seconds: -8000))
        _ = jar.field(for: "http://x.org/a", at: noon.plus(seconds: -5000))
        jar.receive("c=1", from: "https://x.org/")
        #expect(jar.pairs() == ["s=1", "a=1", "c=1"])
        jar.receive("d=1; secure", from: "https://x.org/")
        jar.receive("e=1; secure", from: "https://x.org/")
        #expect(jar.pairs() == ["s=1", "d=1", "e=1"])
        jar.receive("f=1; secure", from: "https://x.org/")
        #expect(jar.pairs() == ["d=1", "e=1", "f=1"])
        jar.receive("g=1; domain=x.org", from: "https://y.x.org/")
        #expect(jar.pairs().count == 3)
    }

    @Test("a domain keeps to its bytes, whether long cookies come or short ones become long")
    func bytesPerDomain() {
        var jar = CookieJar(limits: CookieLimits(bytesPerDomain: 1000))
        let long = String(repeating: "v", count: 200)
        for index in 0..<20 { jar.receive("n\(index)=\(long)", from: "http://x.org/") }
        #expect(jar.count == 3)
        let newest = jar.field(for: "http://x.org/") ?? ""
        #expect(newest.hasSuffix("n19=\(long)"))
        for name in ["a", "b", "c", "d", "e"] { jar.receive("\(name)=1", from: "http://y.org/") }
        #expect(jar.count == 8)
        for name in ["a", "b", "c", "d", "e"] { jar.receive("\(name)=\(long)", from: "http://y.org/") }
        #expect(jar.count <= 6)
        let grown = jar.field(for: "http://y.org/") ?? ""
        #expect(grown.hasSuffix("e=\(long)"))
        jar.removeAll()
        jar.receive("a=\(long)", from: "http://x.org/")
        #expect(jar.count == 1)
    }

    @Test("a jar keeps its limit: crowded domains lose first, then what was used last longest ago")
    func total() {
        var jar = CookieJar(limits: CookieLimits(perDomain: 20, total: 20, crowded: 3))
        jar.receive("quiet=1", from: "http://quiet.org/", at: noon.plus(seconds: -5000))
        for index in 0..<18 {
            jar.receive("n\(index)=1", from: "http://loud.org/", at: noon.plus(seconds: Int64(index)))
        }
        for index in 0..<3 { jar.receive("m\(index)=1", from: "http://h\(index).org/", at: noon.plus(seconds: 100)) }
        #expect(jar.count == 22)
        jar.receive("last=1", from: "http://last.org/", at: noon.plus(seconds: 200))
        #expect(jar.count == 20)
        let left = jar.pairs()
        #expect(left.contains("quiet=1") && left.contains("last=1") && left.contains("n3=1"))
        #expect(!left.contains("n0=1") && !left.contains("n2=1"))
    }

    @Test("a flood of domains leaves no more than the limit, and no trace in the tables")
    func flood() {
        var jar = CookieJar(limits: CookieLimits(total: 50))
        for index in 0..<2000 {
            jar.receive("a=1; secure", from: "https://h\(index).org/", at: noon.plus(seconds: Int64(index)))
        }
        #expect(jar.count <= 55 && jar.count >= 50)
        #expect(jar.field(for: "https://h1999.org/") == "a=1")
        #expect(jar.receive("a=2", from: "http://h1.org/") == .success(.insert))
        #expect(jar.receive("a=2", from: "http://h1999.org/") == .failure(.hidesSecure))
        jar.removeAll()
        #expect(jar.receive("a=2", from: "http://h1999.org/") == .success(.insert))
    }

    @Test("a program's own cookies are set, replaced and, when over, removed")
    func own() throws {
        var jar = CookieJar()
        var cookie = Cookie(
            name: [97], value: [98], domain: "X.org", isHostOnly: false, expiry: noon.plus(seconds: 5), creation: noon)
        #expect(jar.set(try cookie.record(suffixes), at: noon) == .insert)
        #expect(jar.field(for: "http://y.x.org/") == "a=b")
        cookie.value = [99]
        #expect(jar.set(try cookie.record(suffixes), at: noon) == .replace)
        #expect(CookieTarget.with("http://x.org/") { jar.cookies(for: $0, at: noon) }.map(\.valueText) == ["c"])
        #expect(jar.set(try cookie.record(suffixes), at: noon.plus(seconds: 5)) == .remove)
    }

    @Test("the last access is noted once in an hour")
    func access() {
        var jar = CookieJar()
        jar.receive("a=1", from: "http://x.org/")
        _ = jar.field(for: "http://x.org/", at: noon.plus(seconds: 3599))
        #expect(jar.cookies(at: noon).first?.lastAccess == noon)
        _ = jar.field(for: "http://x.org/", at: noon.plus(seconds: 3600))
        #expect(jar.cookies(at: noon).first?.lastAccess == noon.plus(seconds: 3600))
    }
}
