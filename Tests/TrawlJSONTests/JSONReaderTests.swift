import Testing
import TrawlJSON

/// A value built from what the reader says, to compare with.
indirect enum Value: Equatable {
    case object([Member])
    case array([Value])
    case string(String)
    case number(String)
    case bool(Bool)
    case null

    struct Member: Equatable {
        let name: String
        let value: Value
    }

    static func parse(_ text: [UInt8]) throws(JSONError) -> Value {
        let result: Result<Value, JSONError> = text.withUnsafeBytes { bytes in
            do throws(JSONError) {
                var reader = try JSONReader(bytes)
                let value = try read(&reader)
                try reader.finish()
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func read(_ reader: inout JSONReader) throws(JSONError) -> Value {
        switch try reader.peek() {
        case .object:
            try reader.beginObject()
            var members: [Member] = []
            while let name = try reader.nextMember() {
                members.append(Member(name: try reader.text(of: name), value: try read(&reader)))
            }
            return .object(members)
        case .array:
            try reader.beginArray()
            var elements: [Value] = []
            while try reader.nextElement() { elements.append(try read(&reader)) }
            return .array(elements)
        case .string: return .string(try reader.text(of: try reader.readString()))
        case .number: return .number(String(decoding: try reader.readNumber().text, as: UTF8.self))
        case .bool: return .bool(try reader.readBool())
        case .null:
            try reader.readNull()
            return .null
        }
    }

    /// The text passed over in one go; what is good for `parse` must be good here, and the other way round.
    static func skip(_ text: [UInt8]) throws(JSONError) -> [UInt8] {
        let result: Result<[UInt8], JSONError> = text.withUnsafeBytes { bytes in
            do throws(JSONError) {
                var reader = try JSONReader(bytes)
                let raw = try reader.skipValue()
                try reader.finish()
                return .success(Array(raw))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

@Suite("Reading JSON, RFC 8259")
struct JSONReaderTests {
    private func error(_ text: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            _ = try Value.parse(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("values of every kind, with whitespace wherever it may stand")
    func values() throws {
        let text = #" {"a" : [ 1 , -2.5e+3,"x" ,true,false,null, [ ],{ }] , "b":{"c":"d"} } "#
        let expected = Value.object([
            .init(
                name: "a",
                value: .array([
                    .number("1"), .number("-2.5e+3"), .string("x"), .bool(true), .bool(false), .null, .array([]),
                    .object([]),
                ])),
            .init(name: "b", value: .object([.init(name: "c", value: .string("d"))])),
        ])
        #expect(try Value.parse(Array(text.utf8)) == expected)
        #expect(try Value.skip(Array(text.utf8)) == Array(text.utf8.dropFirst().dropLast()))
    }

    @Test(
        "texts that are none are refused, with their place",
        arguments: [
            ("", JSONError.Reason.truncated, 0), (" ", .truncated, 1), ("{", .truncated, 1), ("[1,", .truncated, 3),
            ("[1 2]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1), ("[1,]", .unexpectedByte, 3),
            ("{\"a\":1,}", .unexpectedByte, 7), ("{\"a\" 1}", .unexpectedByte, 5), ("{a:1}", .unexpectedByte, 1),
            ("{1:1}", .unexpectedByte, 1), ("[1}", .unexpectedByte, 2), ("{\"a\":}", .unexpectedByte, 5),
            ("tru", .truncated, 3), ("trux", .unexpectedByte, 3), ("nul", .truncated, 3), ("True", .unexpectedByte, 0),
            ("NaN", .unexpectedByte, 0), ("Infinity", .unexpectedByte, 0), ("'a'", .unexpectedByte, 0),
            ("1 2", .trailingBytes, 2), ("{}{}", .trailingBytes, 2), ("\"a", .truncated, 2), ("\"\\", .truncated, 2),
            ("\"\\x\"", .badEscape, 1), ("\"\\u12\"", .badEscape, 1), ("\"\\u12", .truncated, 5),
            ("\"a\nb\"", .controlCharacter, 2), ("\"\u{0}\"", .controlCharacter, 1), ("01", .unexpectedByte, 1),
            ("-", .truncated, 1), ("-a", .unexpectedByte, 1), ("1.", .truncated, 2), (".5", .unexpectedByte, 0),
            ("1.e3", .unexpectedByte, 2), ("1e", .truncated, 2), ("1e+", .truncated, 3), ("+1", .unexpectedByte, 0),
            ("0x10", .unexpectedByte, 1), ("1a", .unexpectedByte, 1), ("\u{FEFF}1", .unexpectedByte, 0),
            ("/**/1", .unexpectedByte, 0), ("]", .unexpectedByte, 0), ("\u{A0}1", .unexpectedByte, 0),
        ])
    func refused(text: String, reason: JSONError.Reason, offset: Int) {
        #expect(error(Array(text.utf8)) == JSONError(reason, at: offset))
        #expect(throws: JSONError.self) { try Value.skip(Array(text.utf8)) }
    }

    @Test(
        "numbers are handed over as they are written",
        arguments: [
            ("0", 0, 0.0), ("-0", 0, -0.0), ("12", 12, 12), ("-9223372036854775808", Int.min, -0x1p63),
            ("9223372036854775807", Int.max, 0x1p63), ("9223372036854775808", nil, 0x1p63), ("1e2", nil, 100),
            ("1.0", nil, 1), ("1E-2", nil, 0.01), ("1e400", nil, .infinity), ("-1e400", nil, -.infinity),
            ("12345678901234567890123", nil, 1.2345678901234567890123e22), ("0.1", nil, 0.1),
            ("1e-400", nil, 0), ("0e0", nil, 0),
        ] as [(String, Int?, Double)])
    func numbers(text: String, integer: Int?, double: Double) throws {
        try Array("[\(text)]".utf8).withUnsafeBytes { bytes in
            var reader = try JSONReader(bytes)
            try reader.beginArray()
            #expect(try reader.nextElement())
            let number = try reader.readNumber()
            #expect(String(decoding: number.text, as: UTF8.self) == text)
            #expect(number.integer == integer)
            let whole = double.magnitude <= 0x1p53 ? Int(exactly: double) : nil
            #expect(number.wholeNumber == integer ?? whole)
            #expect(number.double == double && number.double.sign == double.sign)
        }
    }

    @Test(
        "escapes stand for characters, pairs of surrogates for one",
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e4\u20AC""#, "Aä€"),
            (#""\uD83D\ude80x""#, "🚀x"), (#""\u0000""#, "\u{0}"), ("\"ä€🚀\"", "ä€🚀"), (#""\uFFFF""#, "\u{FFFF}"),
        ])
    func escapes(text: String, value: String) throws {
        #expect(try Value.parse(Array(text.utf8)) == .string(value))
    }

    @Test(
        "half a pair is no text, and may be passed over",
        arguments: [#""\uD800""#, #""\uDC00""#, #""\uD800\u0041""#, #""\uD800x""#, #""\uDC00\uD800""#, #""a\uD800\n""#])
    func loneSurrogates(text: String) throws {
        #expect(error(Array(text.utf8))?.reason == .loneSurrogate)
        #expect(try Value.skip(Array(text.utf8)) == Array(text.utf8))
    }

    @Test(
        "bytes that are not UTF-8 are refused",
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xE2, 0x82],
        ])
    func notUTF8(bytes: [UInt8]) {
        #expect(error(bytes) == JSONError(.notUTF8, at: 1))
    }

    @Test("64 levels are read, 65 are refused, a million do not overflow the stack")
    func depth() throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            for (levels, isFine) in [(64, true), (65, false), (1_000_000, false)] {
                let text = String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
                let result = Result { () throws(JSONError) in try Value.skip(Array(text.utf8)) }
                switch result {
                case .success: #expect(isFine)
                case .failure(let error): #expect(!isFine && error.reason == .tooDeep)
                }
            }
        }
    }

    @Test("duplicate names come as they stand")
    func duplicates() throws {
        #expect(
            try Value.parse(Array(#"{"a":1,"\u0061":2}"#.utf8))
                == .object([.init(name: "a", value: .number("1")), .init(name: "a", value: .number("2"))]))
    }

    @Test("names are compared with their escapes undone")
    func names() throws {
        try Array(#"{"\u0069d":1,"ide":2,"id":3,"\uD800":4}"#.utf8).withUnsafeBytes { bytes in
            var reader = try JSONReader(bytes)
            var matches: [Bool] = []
            try reader.beginObject()
            while let name = try reader.nextMember() {
                matches.append(reader.isEqual(name, "id"))
                _ = try reader.skipValue()
            }
            #expect(matches == [true, false, true, false])
        }
    }

    @Test("a byte for each character up to U+00FF")
    func latin1() throws {
        func bytes(_ text: String) throws -> [UInt8] {
            try Array(text.utf8).withUnsafeBytes { bytes in
                var reader = try JSONReader(bytes)
                let string = try reader.readString()
                var result: [UInt8] = []
                try reader.appendLatin1(of: string, to: &result)
                return result
            }
        }
        #expect(try bytes("\"a\u{80}\u{FF}\\u00e4\\n\"") == [0x61, 0x80, 0xFF, 0xE4, 0x0A])
        #expect(throws: JSONError(.notLatin1, at: 2)) { try bytes("\"aĀ\"") }
        #expect(throws: JSONError(.notLatin1, at: 1)) { try bytes(#""\u0100""#) }
        #expect(throws: JSONError(.notLatin1, at: 1)) { try bytes("\"🚀\"") }
        #expect(throws: JSONError(.loneSurrogate, at: 1)) { try bytes(#""\uD800""#) }
    }

    @Test(
        "Base64 with its padding and nothing else",
        arguments: [
            ("", []), ("Zg==", [0x66]), ("Zm8=", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]),
            ("+\\/8=", [0xFB, 0xFF]), ("Zg", nil), ("Zg=", nil), ("Zh==", nil), ("Zm9=", nil), ("Z===", nil),
            ("====", nil), ("Zg==Zg==", nil), ("Zm 9v", nil), ("Zm9v\\n", nil), ("-_8=", nil), ("Zmäv", nil),
        ] as [(String, [UInt8]?)])
    func base64(text: String, expected: [UInt8]?) throws {
        try Array("\"\(text)\"".utf8).withUnsafeBytes { bytes in
            var reader = try JSONReader(bytes)
            let string = try reader.readString()
            #expect((try? reader.base64(of: string)) == expected)
        }
    }

    @Test("cut anywhere, a text is refused as one that ends too early")
    func truncations() {
        let text = Array(#"{"id":-12.5e3,"u":["a\u0041\uD83D\uDE80",true,false,null,{"x":{}}],"é":"ü"}"#.utf8)
        for length in 0..<text.count {
            let reason = error(Array(text[..<length]))?.reason
            #expect(reason == .truncated || reason == .notUTF8, "\(length)")
        }
        #expect(error(text) == nil)
    }
}
