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

    @Test("the names in a text are those that servers see in it")
    func names() throws {
        let names = try ManualCookie("", "a=1;b = 2 ; c; =; ;=d;e=f=g").names
        #expect(names.map { String(decoding: $0, as: UTF8.self) } == ["a", "b", "", "", "e"])
        #expect(try ManualCookie("a", "b=c").names == [[0x61]])
        #expect(throws: CookieRefusal.forbiddenByte) { try ManualCookie("", "a=\u{1}") }
        #expect(throws: CookieRefusal.empty) { try ManualCookie("", " \t") }
    }

    @Test(
        "a text goes out as it stands, but for spaces around it",
        arguments: [
            (#"a="x;y""#, #"a="x;y"; b=2"#, #"a="x;y"; z=0"#),
            ("=bar; x = y", "=bar; x = y; a=1; b=2", "=bar; x = y; z=0"),
            (" a=9;c=8 ", "a=9;c=8; b=2", "a=9;c=8; z=0"), ("a=9;", "a=9; b=2", "a=9; z=0"),
            ("a=9; b=8", "a=9; b=8", "a=9; b=8; z=0"), ("=", "=; a=1; b=2", "=; z=0"),
        ])
    func text(given: String, beforeStored: String, beforeManual: String) throws {
        var jar = CookieJar()
        for line in ["a=1", "b=2"] { jar.receive(line, from: "http://x.org/") }
        let text = try ManualCookie("", given)
        #expect(jar.field(for: "http://x.org/", manual: [text]) == beforeStored)
        #expect(try jar.field(for: "http://y.org/", manual: [text, ManualCookie("z", "0")]) == beforeManual)
        #expect(try jar.field(for: "http://y.org/", manual: [ManualCookie("", "z=0;")]) == "z=0;")
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

    @Test("by default 8 KiB of what HTTP/2 can send in a head are left for what else is in it")
    func defaultLimit() {
        #expect(CookieLimits().fieldLength + 8192 == 65_536)
        var jar = CookieJar()
        let value = String(repeating: "v", count: 1000)
        for number in 100..<180 { jar.receive("\(number)=\(value)", from: "http://x.org/") }
        // Each has 1,006 bytes with what parts it from the next.
        #expect(jar.field(for: "http://x.org/")?.utf8.count == 57 * 1006 - 2)
    }

    @Test("the limit is for stored cookies alone")
    func manualBeyondLimit() throws {
        var jar = CookieJar(limits: CookieLimits(fieldLength: 10))
        for line in ["a=1234", "b=5678", "c="] { jar.receive(line, from: "http://x.org/") }
        let long = String(repeating: "v", count: 70_000)
        let manual = try [ManualCookie("m", long), ManualCookie("", "n=\(long)")]
        let field = jar.field(for: "http://x.org/", manual: manual)
        #expect(field == "m=\(long); n=\(long); a=1234; c=")
    }

    @Test("bytes above 0x7F go out as they came in")
    func bytes() {
        var jar = CookieJar()
        jar.receive("\u{FF}=\u{FE}\u{80}", from: "http://x.org/")
        #expect(jar.field(for: "http://x.org/") == "\u{FF}=\u{FE}\u{80}")
    }
}
