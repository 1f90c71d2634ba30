import Testing
import TrawlCoding
import TrawlHTTP

/// What became of a chunked body.
struct Dechunked: Equatable {
    var content: [UInt8] = []
    var isComplete = false
    var excess = 0
    var trailers = FieldLines()
    var error: ChunkError?

    var text: String { String(decoding: content, as: UTF8.self) }
}

extension ChunkDecoder {
    /// Decodes a whole piece of input.
    ///
    /// - Parameter content: Receives the runs of content.
    mutating func decode(
        _ input: UnsafeRawBufferPointer, _ content: (UnsafeRawBufferPointer) -> Void
    ) throws(ChunkError) {
        var input = input
        while let run = try next(in: &input) { content(run) }
    }
}

func dechunk(_ body: [UInt8], cuts: Cuts = [], limits: ChunkLimits = .default) -> Dechunked {
    var result = Dechunked()
    var decoder = ChunkDecoder(limits: limits)
    do throws(ChunkError) {
        for piece in pieces(of: body, at: cuts) {
            let error: ChunkError? = piece.withUnsafeBytes { bytes in
                do throws(ChunkError) {
                    try decoder.decode(bytes) { result.content += $0 }
                    return nil
                } catch {
                    return error
                }
            }
            if let error { throw error }
        }
        result.isComplete = decoder.isComplete
        guard result.isComplete else { throw .truncated }
    } catch {
        result.error = error
    }
    result.excess = decoder.excess
    result.trailers = decoder.trailers
    return result
}

func dechunk(_ body: String, limits: ChunkLimits = .default) -> Dechunked {
    dechunk(Array(body.utf8), limits: limits)
}

@Suite("Chunked transfer coding, RFC 9112 §7.1")
struct ChunkDecoderTests {
    static let valid: [(body: String, content: String)] = [
        ("0\r\n\r\n", ""),
        ("000\r\n\r\n", ""),
        ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world"),
        ("a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n", "01234567890123456789a"),
        ("0000000000000005\r\nhello\r\n0\r\n\r\n", "hello"),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
        ("5;a\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5;a=b;c=\"d;e\"\r\nhello\r\n0;x=y\r\n\r\n", "hello"),
        ("5 ; a = b\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5  \t\r\nhello\r\n0 \r\n\r\n", "hello"),
        ("5;\u{00e9}=\u{00e9}\r\nhello\r\n0\r\n\r\n", "hello"),
        ("1\r\na\r\n0\r\nDigest: x\r\n\r\n", "a"),
        ("1\r\na\r\n0\r\nDigest: x\r\n y\r\nOther:\r\n\r\n", "a"),
    ]

    static let invalid: [(body: String, error: ChunkError)] = [
        ("\r\n", .invalidSize),
        ("\n", .bareLF),
        ("g\r\n", .invalidSize),
        ("-1\r\n", .invalidSize),
        ("+1\r\n", .invalidSize),
        ("0x5\r\nhello\r\n", .invalidSize),
        (" 5\r\nhello\r\n", .invalidSize),
        (";a\r\n", .invalidSize),
        ("5 5\r\nhello\r\n", .invalidSize),
        ("5,5\r\nhello\r\n", .invalidSize),
        ("5\u{0}\r\nhello\r\n", .invalidSize),
        ("8000000000000000\r\n", .sizeTooLarge),
        ("ffffffffffffffff\r\n", .sizeTooLarge),
        ("10000000000000000\r\n", .sizeTooLarge),
        ("00000000000000005\r\nhello\r\n", .sizeTooLarge),
        ("5\nhello\r\n0\r\n\r\n", .bareLF),
        ("5;a\nhello\r\n0\r\n\r\n", .bareLF),
        ("5 \nhello\r\n0\r\n\r\n", .bareLF),
        ("5\rhello\r\n0\r\n\r\n", .bareCR),
        ("5;a\rb\r\nhello\r\n0\r\n\r\n", .bareCR),
        ("5;a\u{1}\r\nhello\r\n", .invalidExtension),
        ("5;a\u{7f}\r\nhello\r\n", .invalidExtension),
        ("5\r\nhello0\r\n\r\n", .contentOverrun),
        ("5\r\nhello!\r\n0\r\n\r\n", .contentOverrun),
        ("5\r\nhello\n0\r\n\r\n", .bareLF),
        ("5\r\nhello\r0\r\n\r\n", .bareCR),
        ("5\r\nhello\r\n\r\n0\r\n\r\n", .invalidSize),
        ("0\r\n\n", .bareLF),
        ("0\r\n\rX", .bareCR),
        ("0\r\nA: b\n\r\n", .bareLF),
        ("0\r\nA: b\rc\r\n\r\n", .bareCR),
        ("0\r\nA\r\n\r\n", .invalidTrailer),
        ("0\r\n: b\r\n\r\n", .invalidTrailer),
        ("0\r\n : b\r\n\r\n", .invalidTrailer),
        ("0\r\nA B : b\r\n\r\n", .invalidTrailer),
        ("0\r\nA\u{e9}: b\r\n\r\n", .invalidTrailer),
        ("0\r\nA: b\u{0}c\r\n\r\n", .invalidTrailer),
        ("0\r\n A: b\r\n\r\n", .invalidTrailer),
        ("", .truncated),
    ]

    @Test("sound bodies give their content, at every pair of split points", arguments: valid.indices)
    func splits(index: Int) {
        let (body, content) = Self.valid[index]
        let bytes = Array(body.utf8)
        let whole = dechunk(bytes)
        #expect(whole.text == content && whole.isComplete && whole.error == nil && whole.excess == 0)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                #expect(dechunk(bytes, cuts: [first, second]) == whole, "cut at \(first) and \(second)")
            }
        }
        #expect(dechunk(bytes, cuts: Array(0...bytes.count)) == whole)
    }

    @Test("a body cut off anywhere is truncated", arguments: valid.indices)
    func truncation(index: Int) {
        let (body, content) = Self.valid[index]
        let bytes = Array(body.utf8)
        for length in 0..<bytes.count {
            let result = dechunk(Array(bytes[..<length]))
            #expect(result.error == .truncated && !result.isComplete, "\(length) bytes")
            #expect(content.utf8.starts(with: result.content))
        }
    }

    @Test("unsound bodies are refused, at every split point alike", arguments: invalid.indices)
    func refusals(index: Int) {
        let (body, error) = Self.invalid[index]
        let bytes = Array(body.utf8)
        let whole = dechunk(bytes)
        #expect(whole.error == error, "\(body.debugDescription)")
        for cut in 0...bytes.count {
            #expect(dechunk(bytes, cuts: [cut]) == whole, "cut at \(cut)")
        }
    }

    @Test(
        "bytes after the end are counted, in the same piece and later", arguments: ["x", "HTTP/1.1 200 OK\r\n", "\r\n"])
    func excess(surplus: String) {
        let body = Array("3\r\nabc\r\n0\r\nA: b\r\n\r\n".utf8)
        let bytes = body + Array(surplus.utf8)
        for cut in 0...bytes.count {
            let result = dechunk(bytes, cuts: [cut])
            #expect(result.error == nil && result.text == "abc" && result.excess == surplus.utf8.count)
        }
    }

    @Test("content is handed on in place")
    func inPlace() throws {
        let bytes = Array("3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n".utf8)
        var decoder = ChunkDecoder()
        var offsets: [Range<Int>] = []
        bytes.withUnsafeBytes { input in
            #expect(throws: Never.self) {
                try decoder.decode(input) { run in
                    guard let base = input.baseAddress, let start = run.baseAddress else { return }
                    offsets.append(start - base..<start - base + run.count)
                }
            }
        }
        #expect(offsets == [3..<6, 11..<15])
    }

    @Test("the largest size is taken, and its content is not waited for in memory")
    func largest() throws {
        var decoder = ChunkDecoder()
        var count = 0
        for piece in ["7fffffffffffffff\r\n", "some content", "and more"] {
            var piece = piece
            try piece.withUTF8 { try decoder.decode(UnsafeRawBufferPointer($0)) { count += $0.count } }
        }
        #expect(count == 20 && !decoder.isComplete)
    }

    @Test("an error stays")
    func sticky() {
        var decoder = ChunkDecoder()
        let bytes = Array("5\nhello\r\n0\r\n\r\n".utf8)
        for _ in 0..<2 {
            bytes.withUnsafeBytes { input in
                _ = #expect(throws: ChunkError.bareLF) { try decoder.decode(input) { _ in } }
            }
        }
        #expect(!decoder.isComplete)
    }

    @Test("trailer fields are kept in order, unfolded and trimmed")
    func trailers() {
        let result = dechunk("0\r\nA: 1\r\nb \t:\t2 \r\nA : 3\r\nC: x\r\n\ty\r\n  z\r\nD:\r\n\r\n")
        #expect(result.error == nil)
        #expect(result.trailers.count == 5)
        #expect(result.trailers.values("a") == ["1", "3"])
        #expect(result.trailers.first("B") == "2")
        #expect(result.trailers.first("C") == "x y  z")
        #expect(result.trailers.first("D")?.isEmpty == true)
    }

    @Test(
        "fields that have no business in a trailer section are dropped, RFC 9110 §6.5.1",
        arguments: [
            "Transfer-Encoding", "content-length", "HOST", "Trailer", "TE", "Connection", "Content-Encoding",
            "Content-Type", "Content-Range", "Authorization", "WWW-Authenticate", "Proxy-Authenticate", "Set-Cookie",
            "Cookie", "Cache-Control", "Expires", "Age", "Vary", "Location", "Retry-After", "Date", "If-Match",
            "If-Anything", "Range", "Max-Forwards", "Expect", "Strict-Transport-Security", "Content-Disposition",
        ])
    func forbidden(name: String) {
        let result = dechunk("0\r\nBefore: 1\r\n\(name): 5\r\n\(name) : 6\r\nETag: \"a\"\r\n\r\n")
        #expect(result.error == nil && result.trailers.count == 2)
        #expect(result.trailers.first("etag") == "\"a\"")
        #expect(!result.trailers.contains(name))
    }

    @Test("a dropped field must be well formed all the same")
    func forbiddenAndInvalid() {
        #expect(dechunk("0\r\nHost: a\u{0}b\r\n\r\n").error == .invalidTrailer)
    }

    @Test("limits hold to the byte")
    func limits() {
        let limits = ChunkLimits(extensionBytes: 4, extensionAllowance: 6, trailerBytes: 10, trailerFields: 2)
        let table: [(String, ChunkError?)] = [
            ("1;abc\r\nx\r\n0\r\n\r\n", nil),
            ("1;abcd\r\nx\r\n0\r\n\r\n", .extensionTooLong),
            ("1    \r\nx\r\n0\r\n\r\n", nil),
            ("1     \r\nx\r\n0\r\n\r\n", .extensionTooLong),
            // Seven bytes of extensions for one of content, then eight.
            ("1;abc\r\nx\r\n0;ab\r\n\r\n", nil),
            ("1;abc\r\nx\r\n0;abc\r\n\r\n", .extensionTooLong),
            ("0\r\nA: 234567\r\n\r\n", nil),
            ("0\r\nA: 2345678\r\n\r\n", nil),
            ("0\r\nA: 23456789\r\n\r\n", .trailerTooLarge),
            ("0\r\nA:1\r\nB:2\r\n\r\n", nil),
            ("0\r\nA:1\r\nB:2\r\nC:3\r\n\r\n", .trailerTooLarge),
            ("0\r\nTE:1\r\nTE:2\r\nC\r\n\r\n", .trailerTooLarge),
        ]
        for (body, error) in table {
            #expect(dechunk(body, limits: limits).error == error, "\(body.debugDescription)")
        }
    }

    @Test("extensions without end are stopped by default, in one line and over many")
    func endless() {
        #expect(dechunk("1;" + String(repeating: "a", count: 5000)).error == .extensionTooLong)
        let chunk = "1;" + String(repeating: "a", count: 1000) + "\r\nx\r\n"
        #expect(dechunk(String(repeating: chunk, count: 10)).error == .truncated)
        #expect(dechunk(String(repeating: chunk, count: 20)).error == .extensionTooLong)
        let unlimited = ChunkLimits(extensionBytes: .max, extensionAllowance: .max)
        #expect(dechunk(String(repeating: chunk, count: 20), limits: unlimited).error == .truncated)
    }
}
