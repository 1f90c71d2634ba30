import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Set-Cookie lines taken apart, RFC 6265bis §5.6")
struct SetCookieTests {
    private func parse<Result>(_ line: String, _ body: (SetCookie) -> Result) throws -> Result {
        try line.latin1.withUnsafeBytes { body(try SetCookie($0, now: noon)) }
    }

    @Test(
        "names and values",
        arguments: [
            ("a=b", "a", "b"), ("a", "", "a"), ("=a", "", "a"), ("a=", "a", ""), (" a\t=\tb ;x", "a", "b"),
            ("a=b=c", "a", "b=c"), ("==a", "", "=a"), ("a=\"b c\"", "a", "\"b c\""), ("a;b=c", "", "a"),
            ("a=b,c=d", "a", "b,c=d"),
        ])
    func pairs(line: String, name: String, value: String) throws {
        try parse(line) { cookie in
            #expect(Array(cookie.name) == name.latin1)
            #expect(Array(cookie.value) == value.latin1)
        }
    }

    @Test(
        "lines that are no cookie",
        arguments: [
            ("", CookieRefusal.empty), ("=", .empty), (" ; path=/", .empty), (";a=b", .empty), ("\t", .empty),
            ("a=\u{1}", .forbiddenByte), ("a=b\r\nSet-Cookie: c=d", .forbiddenByte),
            ("a=b; path=/\u{7F}", .forbiddenByte),
            ("a=\0b", .forbiddenByte), (String(repeating: "x", count: 4097), .tooLong),
            ("n=" + String(repeating: "x", count: 4096), .tooLong),
        ])
    func refusals(line: String, reason: CookieRefusal) {
        #expect(throws: reason) { try parse(line) { _ in } }
    }

    @Test("a control byte is found wherever it stands in a word")
    func controls() {
        for byte in (0..<0x20).map(UInt8.init) + [0x7F] {
            for place in 0..<19 {
                var bytes = [UInt8](repeating: 0xE9, count: 19)
                bytes[place] = byte
                #expect(bytes.withUnsafeBytes { $0.isFreeOfControls() } == (byte == 9))
            }
        }
        let rest = (0x20...0xFF).filter { $0 != 0x7F }.map(UInt8.init)
        #expect(rest.withUnsafeBytes { $0.isFreeOfControls() })
    }

    @Test("what no record may hold is found wherever it stands in a word, and nothing else")
    func bytes() {
        let semicolon = UInt8(ascii: ";")
        for length in [1, 7, 8, 9, 16, 19] {
            for (place, byte) in (0..<length).flatMap({ place in (0...255).map { (place, UInt8($0)) } }) {
                var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: length)
                bytes[place] = byte
                let isControl = byte < 0x20 && byte != 9 || byte == 0x7F
                let isDomain = (0x21...0x7E).contains(byte) && !(0x41...0x5A).contains(byte) && byte != semicolon
                bytes.withUnsafeBytes { bytes in
                    #expect(bytes.isFreeOfControls() == !isControl)
                    #expect(bytes.isFreeOfControls(and: semicolon) == !(isControl || byte == semicolon))
                    #expect(bytes.isLowercaseVisible() == isDomain)
                }
            }
        }
    }

    @Test(
        "how long it lasts, Max-Age before Expires",
        arguments: [
            ("a=b", nil), ("a=b; max-age=60", 60), ("a=b; Max-Age=60; max-age=10", 10),
            ("a=b; max-age=60; expires=Fri, 07 Aug 2007 08:04:19 GMT", 60),
            ("a=b; expires=Sat, 21 Nov 2026 12:01:00 GMT; max-age=5x", 60),
            ("a=b; expires=Sat, 21 Nov 2026 12:01:00 GMT", 60),
            ("a=b; expires=Sat, 21 Nov 2026 12:01:00 GMT; expires=never", 60),
            ("a=b; max-age=99999999999999999999999", 400 * 86_400),
            ("a=b; expires=Sat, 21 Nov 2099 12:01:00 GMT", 400 * 86_400), ("a=b; max-age=", nil),
            ("a=b; max-age=-", nil), ("a=b; max-age=+1", nil), ("a=b; max-age=1 1", nil),
        ] as [(String, Int64?)])
    func expiry(line: String, seconds: Int64?) throws {
        #expect(try parse(line) { $0.expiry } == seconds.map { noon.plus(seconds: $0) })
    }

    @Test("a Max-Age that is not above zero is over", arguments: ["0", "-1", "-99999999999999999999999", "-0"])
    func over(text: String) throws {
        #expect(try parse("a=b; max-age=\(text)") { $0.expiry } == WallTime(milliseconds: .min))
    }

    @Test("an attribute above 1,024 bytes does not count, the one before it does")
    func longAttributes() throws {
        let path = "/" + String(repeating: "x", count: 1023)
        try parse("a=b; path=\(path); path=\(path)x; domain=\(path)x") { cookie in
            #expect(cookie.path.map { $0.count } == 1024)
            #expect(cookie.domain == nil)
        }
    }

    @Test(
        "a line of a head is told by its name",
        arguments: [
            ("Set-Cookie: a=1", " a=1"), ("set-cookie:a=1", "a=1"), ("SET-COOKIE:", ""), ("Set-Cookie : a=1", nil),
            ("a=1", nil), ("", nil),
        ] as [(String, String?)])
    func lines(line: String, value: String?) {
        #expect(line.latin1.withUnsafeBytes { SetCookie.value(ofLine: $0).map { FieldLines.text($0) } } == value)
    }

    @Test("flags and SameSite, in whatever case, the last of them")
    func flags() throws {
        try parse("a=b; SECURE=no; httponly; SameSite=Strict; samesite=LAX; Partitioned; Version=1; Port") { cookie in
            #expect(cookie.isSecure && cookie.isHTTPOnly)
            #expect(cookie.sameSite == .lax)
        }
        #expect(try parse("a=b; samesite=lax; samesite=x") { $0.sameSite } == .unset)
        #expect(try parse("a=b; samesite=none") { $0.sameSite } == .none)
    }

    @Test("the domain loses one dot at its start, and an empty one counts as none")
    func domains() throws {
        #expect(try parse("a=b; domain=.x.org") { Array($0.domain ?? .init(start: nil, count: 0)) } == "x.org".latin1)
        #expect(try parse("a=b; domain=..x.org") { Array($0.domain ?? .init(start: nil, count: 0)) } == ".x.org".latin1)
        #expect(try parse("a=b; domain=x.org; domain=") { $0.domain == nil })
        #expect(try parse("a=b; domain=.") { $0.domain == nil })
    }
}
