import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("The Cookie field, RFC 6265bis §5.8")
struct CookieSelectionTests {
    @Test("manual cookies come first, and win over stored ones of their name, and go without a jar too")
    func manual() throws {
        var jar = CookieJar()
        for line in ["a=1", "b=2", "A=3", "=4"] { jar.receive(line, from: "http://x.org/") }
        #expect(
            try jar.field(for: "http://x.org/", manual: [.init("b", "x"), .init("z", "y")]) == "b=x; z=y; a=1; A=3; 4")
        #expect(try jar.field(for: "http://x.org/", manual: [.init("", "v")]) == "v; a=1; b=2; A=3")
        #expect(try jar.field(for: "http://y.org/", manual: [.init("b", "x"), .init("b", "y")]) == "b=x; b=y")
        #expect(jar.field(for: "http://y.org/") == nil)
    }

    @Test("manual cookies that could break the field are refused")
    func refusals() {
        for (name, value) in [("a", "b;c"), ("a", "b\r\nX: y"), ("a;", "b"), ("a=", "b"), ("a", "\0")] {
            #expect(throws: CookieRefusal.forbiddenByte) { try ManualCookie(name, value) }
        }
        #expect(throws: CookieRefusal.empty) { try ManualCookie("", "") }
        #expect(throws: Never.self) { try ManualCookie("a b", "c\td=e\"") }
    }

    @Test("a list of cookies is read as in a field")
    func list() throws {
        let list = try "a=1;b = 2 ; c; =; ;=d;e=f=g".latin1.withUnsafeBytes { try ManualCookie.list($0) }
        let pairs = list.map {
            String(decoding: $0.name, as: UTF8.self) + "|" + String(decoding: $0.value, as: UTF8.self)
        }
        #expect(pairs == ["a|1", "b|2", "|c", "|d", "e|f=g"])
        #expect(throws: CookieRefusal.forbiddenByte) {
            try "a=\u{1}".latin1.withUnsafeBytes { try ManualCookie.list($0) }
        }
    }

    @Test("a field keeps its limit, and what does not fit is left out whole")
    func limit() {
        var jar = CookieJar(limits: CookieLimits(fieldLength: 10))
        jar.receive("a=1234; path=/p/q", from: "http://x.org/")
        jar.receive("b=5678; path=/p", from: "http://x.org/")
        jar.receive("c=; path=/", from: "http://x.org/")
        #expect(jar.field(for: "http://x.org/p/q") == "a=1234; c=")
        var small = CookieJar(limits: CookieLimits(fieldLength: 3))
        small.receive("a=1234", from: "http://x.org/")
        #expect(small.field(for: "http://x.org/") == nil)
        var exact = CookieJar(limits: CookieLimits(fieldLength: 6))
        exact.receive("a=1234", from: "http://x.org/")
        #expect(exact.field(for: "http://x.org/") == "a=1234")
    }

    @Test("bytes above 0x7F go out as they came in")
    func bytes() {
        var jar = CookieJar()
        jar.receive("\u{FF}=\u{FE}\u{80}", from: "http://x.org/")
        #expect(jar.field(for: "http://x.org/") == "\u{FF}=\u{FE}\u{80}")
    }
}
