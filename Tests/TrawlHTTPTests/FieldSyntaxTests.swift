import Testing
import TrawlHTTP

@Suite("Bytes of field names and values")
struct FieldSyntaxTests {
    @Test(
        "a number is digits alone and fits 64 bits",
        arguments: [
            ("0", 0), ("007", 7), ("18446744073709551615", UInt64.max), ("18446744073709551616", nil),
            ("99999999999999999999999", nil), ("", nil), ("+1", nil), ("-1", nil), (" 1", nil), ("1 ", nil),
            ("1.0", nil),
            ("0x1", nil), ("٣", nil),
        ] as [(String, UInt64?)])
    func decimal(text: String, expected: UInt64?) {
        #expect(Array(text.utf8).withUnsafeBytes { FieldSyntax.decimal($0) } == expected)
    }

    @Test(
        "trimming takes spaces and tabs, nothing else",
        arguments: [("", ""), (" \t ", ""), ("a", "a"), (" a b\t", "a b"), ("\u{B}a\r", "\u{B}a\r")])
    func trimmed(text: String, expected: String) {
        Array(text.utf8).withUnsafeBytes { bytes in
            #expect(FieldSyntax.trimmed(bytes).elementsEqual(expected.utf8))
        }
    }

    @Test(
        "a refused name is shown as far as it can be one",
        arguments: [
            ("Authorization Bearer secret", "Authorization…"), ("A: b", "A…"), ("A\u{1B}b", "A…"), ("é", "…"), ("", ""),
            ("A", "A"), (String(repeating: "n", count: 65), String(repeating: "n", count: 64) + "…"),
        ])
    func refusedName(name: String, shown: String) {
        #expect(FieldSyntax.shown(refused: name.utf8) == shown)
    }

    @Test("comparing without case looks at the length, and at letters of ASCII only")
    func equalIgnoringCase() {
        #expect(FieldSyntax.equalIgnoringCase("GZip", "gzIP"))
        #expect(!FieldSyntax.equalIgnoringCase("gzip", "gzipp"))
        #expect(!FieldSyntax.equalIgnoringCase("é", "É"))
        #expect(!FieldSyntax.equalIgnoringCase("[", "{"))
    }
}
