import Testing

@testable import TrawlJSON

@Suite("Writing JSON")
struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("commas stand between members, elements and nowhere else")
    func commas() {
        let line = text {
            $0.beginObject()
            $0.key("a")
            $0.beginArray()
            $0.endArray()
            $0.key("b")
            $0.beginArray()
            $0.string("[")
            $0.integer(-1)
            $0.beginArray()
            $0.null()
            $0.endArray()
            $0.beginObject()
            $0.endObject()
            $0.bool(true)
            $0.string("")
            $0.string("")
            $0.endArray()
            $0.key("c")
            $0.bool(false)
            $0.key("d")
            $0.integer(UInt64.max)
            $0.endObject()
            $0.endLine()
            $0.integer(Int.min)
            $0.endLine()
        }
        #expect(
            line == """
                {"a":[],"b":["[",-1,[null],{},true,"",""],"c":false,"d":18446744073709551615}
                -9223372036854775808

                """)
    }

    @Test(
        "strings are escaped where JSON or a terminal needs it",
        arguments: [
            ("a\"b\\c/", #""a\"b\\c/""#), ("\n\r\t\u{0}\u{1b}\u{7f}", #""\n\r\t\u0000\u001b\u007f""#),
            ("ä€🚀", "\"ä€🚀\""), ("\u{80}\u{9f}\u{a0}\u{a9}", "\"\\u0080\\u009f\u{a0}\u{a9}\""), ("", "\"\""),
            ("x\u{9b}", "\"x\\u009b\""),
            ("12345678\"", #""12345678\"""#), ("1234567é\t123456789", #""1234567é\t123456789""#),
        ])
    func strings(value: String, expected: String) {
        #expect(text { $0.string(value) } == expected)
        #expect(text { writer in Array(value.utf8).withUnsafeBytes { writer.string(lossyUTF8: $0) } } == expected)
    }

    @Test("bytes that are not UTF-8 become replacement characters")
    func lossy() {
        #expect(
            text { writer in [UInt8]([0x61, 0xFF, 0xC2]).withUnsafeBytes { writer.string(lossyUTF8: $0) } }
                == "\"a\u{FFFD}\u{FFFD}\"")
    }

    @Test("header bytes become one character each, and come back")
    func latin1() throws {
        let all = (0...255).map { UInt8($0) }
        var writer = JSONWriter()
        all.withUnsafeBytes { writer.latin1($0) }
        let back = try writer.bytes.withUnsafeBytes { bytes in
            var reader = try JSONReader(bytes)
            let string = try reader.readString()
            var result: [UInt8] = []
            try reader.appendLatin1(of: string, to: &result)
            return result
        }
        #expect(back == all)
    }

    @Test(
        "seconds have as many digits as they need, up to six",
        arguments: [
            (Duration.zero, "0"), (.seconds(5), "5"), (.milliseconds(1250), "1.25"), (.microseconds(1), "0.000001"),
            (.nanoseconds(1_999), "0.000001"), (.nanoseconds(999), "0"), (.milliseconds(-1500), "-1.5"),
            (.milliseconds(-500), "-0.5"), (.nanoseconds(-1), "0"), (.microseconds(1_000_010), "1.00001"),
        ])
    func seconds(duration: Duration, expected: String) {
        #expect(text { $0.seconds(duration) } == expected)
    }

    @Test("what is always the same is written in one piece, and values follow it")
    func verbatim() {
        let written = text { writer in
            writer.verbatim(#"{"v":1,"line":"#)
            writer.integer(2)
            writer.verbatim(#","ok":true"#)
            writer.key("url")
            writer.string("u")
            writer.verbatim("}\n")
        }
        #expect(written == #"{"v":1,"line":2,"ok":true,"url":"u"}"# + "\n")
    }

    @Test("Base64 of every length, with its padding")
    func base64() throws {
        var data: [UInt8] = []
        for length in 0...70 {
            var writer = JSONWriter()
            data.withUnsafeBytes { writer.base64($0) }
            let back = try writer.bytes.withUnsafeBytes { bytes in
                var reader = try JSONReader(bytes)
                let string = try reader.readString()
                return try reader.base64(of: string)
            }
            #expect(back == data)
            #expect(writer.bytes.count == (length + 2) / 3 * 4 + 2)
            data.append(UInt8(truncatingIfNeeded: length &* 37 &+ 250))
        }
    }

    @Test("writing goes on where earlier lines ended, and starts anew in the same memory")
    func appending() {
        var writer = JSONWriter()
        writer.integer(1)
        writer.endLine()
        writer.null()
        writer.endLine()
        #expect(Array(writer.bytes) == Array("1\nnull\n".utf8))
        writer.removeAll()
        writer.bool(true)
        #expect(Array(writer.bytes) == Array("true".utf8))
    }
}
