import Testing
import TrawlCoding
import TrawlHTTP

@Suite("Text from bytes, ASI-RSP-05 and 06")
struct TextDecoderTests {
    private static func decode(_ bytes: [UInt8], _ label: String) throws -> String {
        let charset = try #require(Charset(label: label))
        return try bytes.withUnsafeBytes { try TextDecoder.decode($0, as: charset) }
    }

    private static func decodeLossily(_ bytes: [UInt8], _ label: String) throws -> String {
        let charset = try #require(Charset(label: label))
        return try bytes.withUnsafeBytes { try TextDecoder.decodeLossily($0, as: charset) }
    }

    /// Bytes as other programs write them.
    static let vectors: [(String, [UInt8], String)] = [
        ("utf-8", [0x67, 0x72, 0xC3, 0xBC, 0xC3, 0x9F, 0x20, 0xF0, 0x9F, 0x98, 0x80], "grüß 😀"),
        ("us-ascii", [0x67, 0x72, 0x75, 0x65, 0x7E], "grue~"),
        ("iso-8859-1", [0x67, 0x72, 0xFC, 0xDF, 0x80, 0xFF], "grüß\u{80}ÿ"),
        ("windows-1252", [0x80, 0x20, 0x93, 0x61, 0x94], "€ “a”"),
        ("iso-8859-15", [0xA4, 0x31], "€1"),
        ("iso-8859-2", [0xA3, 0xF3, 0x64, 0xBC], "Łódź"),
        ("koi8-r", [0xF0, 0xD2, 0xC9, 0xD7, 0xC5, 0xD4], "Привет"),
        ("windows-1251", [0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2], "Привет"),
        ("utf-16", [0x00, 0x41, 0x20, 0xAC, 0xD8, 0x3D, 0xDE, 0x00], "A€😀"),
        ("utf-16be", [0x00, 0x41, 0x20, 0xAC], "A€"),
        ("utf-16le", [0x41, 0x00, 0xAC, 0x20, 0x3D, 0xD8, 0x00, 0xDE], "A€😀"),
        ("utf-32", [0x00, 0x00, 0x00, 0x41, 0x00, 0x01, 0xF6, 0x00], "A😀"),
        ("shift_jis", [0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA, 0x87, 0x40], "日本語①"),
        ("euc-jp", [0xC6, 0xFC, 0xCB, 0xDC, 0xB8, 0xEC], "日本語"),
        ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x1B, 0x28, 0x42, 0x21], "日本!"),
        ("gb2312", [0xD6, 0xD0, 0xCE, 0xC4, 0x81, 0x40], "中文丂"),
        ("big5", [0xA4, 0xA4, 0xA4, 0xE5], "中文"),
        ("euc-kr", [0xC7, 0xD1, 0xB1, 0xDB], "한글"),
    ]

    @Test("bytes of a charset are its text", arguments: vectors)
    func table(label: String, bytes: [UInt8], text: String) throws {
        let charset = try #require(Charset(label: label))
        #expect(TextDecoder.isKnown(charset))
        #expect(try Self.decode(bytes, label) == text)
        #expect(try Self.decodeLossily(bytes, label) == text)
        #expect(try Self.decode([], label) == "")
        #expect(try Self.decodeLossily([], label) == "")
    }

    @Test(
        "what stands for no character is an error, or replaced",
        arguments: [
            ("utf-8", [0x41, 0xFF, 0x42], "A\u{FFFD}B"), ("utf-8", [0x41, 0xC3], "A\u{FFFD}"),
            ("us-ascii", [0x41, 0x80, 0xFF, 0x42], "A\u{FFFD}\u{FFFD}B"), ("utf-16", [0x00, 0x41, 0x00], "A\u{FFFD}"),
            ("utf-16", [0xDC, 0x00, 0x00, 0x41], "\u{FFFD}A"), ("utf-16le", [0x41, 0x00, 0x00, 0xD8], "A\u{FFFD}"),
            ("shift_jis", [0x41, 0x93], "A\u{FFFD}"), ("euc-jp", [0x41, 0xFF, 0x42], "A\u{FFFD}B"),
            ("iso-8859-6", [0x41, 0xA1, 0x42], "A\u{FFFD}B"),
        ] as [(String, [UInt8], String)])
    func undecodable(label: String, bytes: [UInt8], text: String) throws {
        #expect(throws: TextError.undecodable) { try Self.decode(bytes, label) }
        #expect(try Self.decodeLossily(bytes, label) == text)
    }

    @Test("a charset nobody knows is an error", arguments: ["bogus", "x-nothing", "utf-9", "."])
    func unknown(label: String) throws {
        let charset = try #require(Charset(label: label))
        #expect(!TextDecoder.isKnown(charset))
        #expect(throws: TextError.unknownCharset) { try Self.decode([0x41], label) }
        #expect(throws: TextError.unknownCharset) { try Self.decodeLossily([0x41], label) }
    }

    @Test("long texts are converted whole, wherever the buffer ends")
    func long() throws {
        for offset in 0..<4 {
            let count = 50_000
            let bytes = [UInt8](repeating: 0x41, count: offset) + (0..<count).flatMap { _ in [0x93, 0xFA] as [UInt8] }
            let text = String(repeating: "A", count: offset) + String(repeating: "日", count: count)
            #expect(try Self.decode(bytes, "shift_jis") == text)
        }
        let mixed = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let latin1 = try Self.decode(mixed, "iso-8859-1")
        #expect(latin1.unicodeScalars.map { UInt8($0.value) } == mixed)
    }

    @Test("any bytes are some text when replaced, in every charset")
    func random() throws {
        var state: UInt64 = 7
        for round in 0..<200 {
            let bytes = (0..<(round * 3)).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
            for (label, _, _) in Self.vectors { _ = try Self.decodeLossily(bytes, label) }
        }
    }
}
