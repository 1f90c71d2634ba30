import Testing
import TrawlHTTP

@Suite("Response heads")
struct ResponseHeadTests {
    @Test(
        "the announced length, RFC 9110 §8.6",
        arguments: [
            ([], nil), (["0"], 0), (["42"], 42), ([" 42\t"], 42), (["42, 42"], 42), (["42,42 ,\t42"], 42),
            (["42", "42"], 42),
            (["042", "42"], 42), (["18446744073709551615"], UInt64.max),
            // Different values, and values that are no numbers.
            (["42", "43"], nil), (["42, 43"], nil), (["42, 43", "42"], nil), (["42", "x"], nil), (["x", "42"], nil),
            ([""], nil), (["42,"], nil), ([",42"], nil), (["42,,42"], nil), (["+42"], nil), (["-42"], nil),
            (["42 42"], nil),
            (["42.0"], nil), (["0x2A"], nil), (["18446744073709551616"], nil), (["42;x"], nil), (["٤٢"], nil),
        ] as [([String], UInt64?)])
    func contentLength(values: [String], expected: UInt64?) throws {
        var fields = FieldLines()
        try fields.append("X-Content-Length", "7")
        for value in values { try fields.append("content-length", value) }
        let head = ResponseHead(status: 200, version: .http1_1, reason: "OK", fields: fields)
        #expect(head.contentLength == expected)
    }

    @Test(
        "heads before 200 are interim, but for the one that ends HTTP",
        arguments: [
            (100, true), (101, false), (102, true), (103, true), (199, true), (200, false), (404, false), (999, false),
        ]
            as [(UInt16, Bool)])
    func interim(status: UInt16, expected: Bool) {
        let head = ResponseHead(status: status, version: .http2, reason: "", fields: FieldLines())
        #expect(head.isInterim == expected)
    }

    @Test(
        "a reason phrase keeps its bytes, and is text of UTF-8 or ISO-8859-1",
        arguments: [
            ("OK", [0x4F, 0x4B], "OK"), ("", [], ""), ("\u{E9}", [0xE9], "é"), ("\u{C3}\u{A9}", [0xC3, 0xA9], "é"),
            ("€", [0xE2, 0x82, 0xAC], "€"),
        ] as [(String, [UInt8], String)])
    func reasons(phrase: String, bytes: [UInt8], text: String) {
        #expect(ResponseHead.bytes(ofReason: phrase) == bytes)
        #expect(ResponseHead.text(ofReason: phrase) == text)
    }

    @Test("versions are written as in a status line")
    func versions() {
        #expect(HTTPVersion.allCases.map(\.text) == ["HTTP/1.0", "HTTP/1.1", "HTTP/2"])
    }
}
