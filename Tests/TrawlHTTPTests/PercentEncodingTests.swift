import Testing

@testable import TrawlHTTP

@Suite("Percent-encoding")
struct PercentEncodingTests {
    @Test(
        "a percent sign and two digits stand for a byte; others stay, or make the text none",
        arguments: [
            ("", "", true), ("a%20b", "a b", true), ("%41%4a%4A", "AJJ", true), ("%2541", "%41", true),
            ("%+A", "%+A", false), ("%-1", "%-1", false), ("%", "%", false), ("%4", "%4", false),
            ("%zz%41", "%zzA", false), ("%%41", "%A", false), ("+", "+", true),
        ])
    func decoding(text: String, expected: String, isSound: Bool) {
        #expect(PercentEncoding.decoded(text.utf8) == Array(expected.utf8))
        #expect(PercentEncoding.strictlyDecoded(text.utf8) == (isSound ? Array(expected.utf8) : nil))
    }

    @Test("every byte comes back, and digits are capitals (RFC 3986 §2.1)")
    func roundTrip() {
        let all = (UInt8.min...UInt8.max).map { $0 }
        let text = PercentEncoding.text(of: all) { $0 == UInt8(ascii: "%") || $0 < 0x20 }
        #expect(PercentEncoding.strictlyDecoded(text.utf8) == all)
        #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x80 })
        #expect(text.hasSuffix("%FE%FF"))
    }
}
