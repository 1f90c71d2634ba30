import TestSupport
import Testing
import TrawlHTTP

@Suite("What the body of a 206 is, RFC 9110 §14.4")
struct ContentRangeTests {
    private func range(_ text: String) -> ContentRange? {
        Array(text.utf8).withUnsafeBytes { ContentRange(field: $0) }
    }

    @Test("one range of bytes is read")
    func content() {
        #expect(range("bytes 4-9/10")?.range == 4..<10)
        #expect(range("bytes 4-9/10")?.total == 10)
        #expect(range("bytes 4-9/10")?.length == 6)
        #expect(range(" Bytes  4-9/10 ")?.range == 4..<10)
        #expect(range("bytes 4-9/*")?.range == 4..<10)
        #expect(range("bytes 4-9/*")?.total == nil)
    }

    @Test(
        "what is none says nothing",
        arguments: [
            "", "bytes", "bytes ", "bytes */10", "bytes 9-4/10", "bytes 4-10/10", "items 4-9/10", "bytes=4-9/10",
            "bytes 4-9", "bytes 4-9/", "bytes 4/9-10", "bytes -/10", "bytes 0-18446744073709551615/*",
        ])
    func others(text: String) {
        #expect(range(text) == nil)
    }

    @Test("of a head its only line counts")
    func lines() throws {
        var fields = FieldLines()
        #expect(ContentRange(fields) == nil)
        try fields.append("content-range", "bytes 4-9/10")
        #expect(ContentRange(fields)?.range == 4..<10)
        try fields.append("Content-Range", "bytes 4-9/10")
        #expect(ContentRange(fields) == nil)
        try fields.append("Content-Range", "bytes 4-9/10")
        #expect(ContentRange(fields) == nil)
    }

    @Test("garbage never traps")
    func garbage() {
        var random = SeededGenerator(seed: 5)
        let pieces = ["bytes", "=", "-", "/", "*", ",", " ", "0", "99999999999999999999", "18446744073709551615", "7"]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in random.pick(pieces) }.joined()
            _ = range(text)
        }
    }
}
