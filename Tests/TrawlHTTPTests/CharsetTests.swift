import Testing
import TrawlHTTP

@Suite("Charsets and how one is chosen, RFC 9110 §8.3.2, ASI-RSP-05")
struct CharsetTests {
    @Test(
        "a label is known by all its names, in any case",
        arguments: [
            ("utf-8", Charset.utf8), ("UTF8", .utf8), (" 'Utf-8' ", .utf8), ("us-ascii", .usASCII), ("ASCII", .usASCII),
            ("ANSI_X3.4-1968", .usASCII), ("ISO-8859-1", .latin1), ("latin1", .latin1), ("l1", .latin1),
            ("ISO_8859-1:1987", .latin1), ("utf-16", .utf16BigEndian), ("UTF-16BE", .utf16BigEndian),
            ("utf-16le", .utf16LittleEndian), ("windows-1252", .named("WINDOWS-1252")), ("koi8-r", .named("KOI8-R")),
            ("Shift_JIS", .named("CP932")), ("gb2312", .named("GB18030")), ("euc-kr", .named("UHC")),
            ("utf-32", .named("UTF-32BE")), ("bogus", .named("BOGUS")),
        ])
    func labels(label: String, charset: Charset) {
        #expect(Charset(label: label) == charset)
    }

    @Test(
        "what cannot be a name is none",
        arguments: [
            "", " ", "''", "utf-8//TRANSLIT", "a/b", "utf 8", "utf-8\u{0}", "é", "a,b",
            String(repeating: "a", count: 65),
        ])
    func noNames(label: String) {
        #expect(Charset(label: label) == nil)
    }

    @Test("a charset's name is a label of it", arguments: ["utf-8", "us-ascii", "iso-8859-1", "utf-16be", "utf-16le"])
    func names(name: String) {
        #expect(Charset(label: name)?.name == name)
    }

    private static let known: Set<Charset> = [.utf8, .usASCII, .latin1, .utf16BigEndian, .named("KOI8-R")]

    private func choice(_ bytes: [UInt8], _ type: String?, default label: String = "iso-8859-1") -> CharsetChoice? {
        bytes.withUnsafeBytes {
            CharsetChoice($0, contentType: type, defaultLabel: label, isKnown: Self.known.contains)
        }
    }

    @Test(
        "the parameter is found wherever it stands; one that is unknown counts as none",
        arguments: [
            ("text/plain; charset=utf-8", Charset.utf8), ("text/plain; charset=\"UTF-8\"", .utf8),
            ("text/plain; CHARSET=Utf-8; format=flowed", .utf8), ("text/plain; a=b; charset=koi8-r", .named("KOI8-R")),
            ("text/plain; charset=us-ascii", .usASCII), ("text/plain", .latin1), ("text/html; charset=bogus", .latin1),
            ("text/html; charset=", .latin1), ("text/html; charset=\"\"", .latin1), ("text; charset=utf-8", .utf8),
            (";charset=utf-8", .utf8), ("charset=utf-8", .utf8), ("", .latin1), ("image/png", .latin1),
            ("text/x; charset=utf-8//IGNORE", .latin1),
        ])
    func parameter(type: String, charset: Charset) {
        #expect(choice([0x41], type)?.charset == charset)
        #expect(choice([0x41], type)?.markLength == 0)
    }

    @Test(
        "JSON is UTF-8 whatever is said, RFC 8259 §8.1",
        arguments: [
            "application/json", "Application/JSON; charset=iso-8859-1", "text/json", "application/problem+json",
            "application/ld+json; charset=utf-16", "application/x-ndjson",
        ])
    func json(type: String) {
        #expect(choice([0x7B, 0x7D], type)?.charset == .utf8)
    }

    @Test("without a type it is the default, and nothing when that is unknown")
    func defaults() {
        #expect(choice([], nil)?.charset == .latin1)
        #expect(choice([0x41], nil, default: "UTF-8")?.charset == .utf8)
        #expect(choice([0x41], "text/plain; charset=bogus", default: "koi8-r")?.charset == .named("KOI8-R"))
        #expect(choice([0x41], nil, default: "bogus") == nil)
        #expect(choice([0x41], nil, default: "") == nil)
        #expect(choice([0x41], "text/plain; charset=utf-8", default: "bogus")?.charset == .utf8)
        #expect(choice([0xEF, 0xBB, 0xBF], nil, default: "bogus")?.charset == .utf8)
    }

    @Test(
        "a byte order mark wins over everything",
        arguments: [
            ([0xEF, 0xBB, 0xBF, 0x41], Charset.utf8, 3), ([0xFE, 0xFF, 0x00, 0x41], .utf16BigEndian, 2),
            ([0xFF, 0xFE, 0x41, 0x00], .utf16LittleEndian, 2), ([0xFE, 0xFF], .utf16BigEndian, 2),
            ([0x00, 0x00, 0xFE, 0xFF], .named("UTF-32BE"), 4), ([0xFF, 0xFE, 0x00, 0x00], .named("UTF-32LE"), 4),
        ] as [([UInt8], Charset, Int)])
    func marks(bytes: [UInt8], charset: Charset, length: Int) {
        for type in [nil, "text/plain; charset=us-ascii", "application/json", "text/plain; charset=utf-16"] {
            #expect(choice(bytes, type)?.charset == charset)
            #expect(choice(bytes, type)?.markLength == length)
        }
    }

    @Test("a part of a mark is none", arguments: [[0xEF], [0xEF, 0xBB], [0xFE], [0xFF], [0xBB, 0xBF]] as [[UInt8]])
    func parts(bytes: [UInt8]) {
        #expect(choice(bytes, nil) == choice([], nil))
    }
}
