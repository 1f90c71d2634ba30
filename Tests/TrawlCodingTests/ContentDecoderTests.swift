import TestSupport
import Testing
import TrawlCoding

@Suite("Decoding of content codings")
struct ContentDecoderTests {
    /// Bodies of `Vectors.text` with their codings.
    static let bodies: [(name: String, codings: [ContentCoding], body: [UInt8])] = [
        ("gzip", [.gzip], Vectors.gzip),
        ("gzip with all header fields", [.gzip], Vectors.gzipAllFields),
        ("gzip of zlib", [.gzip], deflated(Vectors.text, .gzip)),
        ("zlib", [.deflate], Vectors.zlib),
        ("bare deflate", [.deflate], Vectors.bare),
        ("brotli", [.brotli], Vectors.brotli),
        ("gzip of deflate", [.deflate, .gzip], deflated(Vectors.zlib, .gzip)),
        ("gzip of bare deflate", [.deflate, .gzip], deflated(Vectors.bare, .gzip)),
        ("gzip of brotli", [.brotli, .gzip], deflated(Vectors.brotli, .gzip)),
        ("three layers", [.gzip, .deflate, .gzip], deflated(deflated(Vectors.gzip, .bare), .gzip)),
    ]

    @Test("each coding gives the text at every split point", arguments: bodies.indices)
    func splits(index: Int) {
        let (_, codings, body) = Self.bodies[index]
        let pool = DecoderPool()
        for cut in 0...body.count {
            let result = decode(body, codings, cuts: [cut], pool: pool)
            #expect(result.error == nil && result.bytes == Vectors.text && result.ignored == 0, "cut at \(cut)")
        }
        let single = decode(body, codings, cuts: Array(1..<body.count), pool: pool)
        #expect(single.error == nil && single.bytes == Vectors.text)
    }

    @Test("a body cut off anywhere is truncated", arguments: bodies.indices)
    func truncation(index: Int) {
        let (_, codings, body) = Self.bodies[index]
        for length in 1..<body.count {
            let result = decode(Array(body[..<length]), codings)
            guard case .truncated = result.error else {
                Issue.record("\(length) bytes: \(String(describing: result.error))")
                continue
            }
            #expect(Vectors.text.starts(with: result.bytes))
        }
    }

    @Test(
        "a body of no bytes decodes to none under any coding",
        arguments: [[.gzip], [.deflate], [.brotli], [.gzip, .brotli], []] as [[ContentCoding]])
    func empty(codings: [ContentCoding]) {
        #expect(decode([], codings) == Decoded())
    }

    @Test(
        "an encoded empty body decodes to no bytes",
        arguments: [
            ([.gzip], deflated([], .gzip)), ([.deflate], deflated([], .zlib)), ([.deflate], deflated([], .bare)),
            ([.brotli], Vectors.brotliEmpty),
        ] as [([ContentCoding], [UInt8])])
    func encodedEmpty(codings: [ContentCoding], body: [UInt8]) {
        #expect(decode(body, codings) == Decoded())
    }

    @Test(
        "gzip members follow one another, with padding around them",
        arguments: [[], [0], [0, 0, 0, 0, 0]] as [[UInt8]])
    func members(padding: [UInt8]) {
        let body = Vectors.gzip + padding + Vectors.gzipAllFields + padding
        for cut in 0...body.count {
            let result = decode(body, [.gzip], cuts: [cut])
            #expect(result.error == nil && result.bytes == Vectors.text + Vectors.text, "cut at \(cut)")
            #expect(result.ignored == 0)
        }
        for length in 1..<body.count {
            let result = decode(Array(body[..<length]), [.gzip])
            // Whole when it ends behind the first member, in its padding, or where a member cannot be told from
            // garbage.
            let isWhole = length >= Vectors.gzip.count && length <= Vectors.gzip.count + padding.count + 1
            let endsInPadding = length >= body.count - padding.count
            #expect((result.error == nil) == (isWhole || endsInPadding), "\(length) bytes")
        }
    }

    @Test(
        "bytes after the end are ignored and counted",
        arguments: [
            ([.gzip], Vectors.gzip, Array("garbage".utf8), 7),
            ([.gzip], Vectors.gzip, [0x1F], 1),
            ([.gzip], Vectors.gzip, [0x1F, 0x1F, 0x8B], 3),
            ([.gzip], Vectors.gzip, [0, 0, 0x1F, 0x00, 0x1F, 0x8B], 4),
            ([.gzip], Vectors.gzip, [1] + Vectors.gzip, 1 + Vectors.gzip.count),
            ([.deflate], Vectors.zlib, [1, 2, 3], 3),
            ([.deflate], Vectors.bare, [1, 2, 3], 3),
            ([.brotli], Vectors.brotli, [1, 2, 3], 3),
        ] as [([ContentCoding], [UInt8], [UInt8], Int)])
    func trailing(codings: [ContentCoding], body: [UInt8], garbage: [UInt8], ignored: Int) {
        let bytes = body + garbage
        for cut in 0...bytes.count {
            let result = decode(bytes, codings, cuts: [cut])
            #expect(result.error == nil && result.bytes == Vectors.text && result.ignored == ignored, "cut at \(cut)")
        }
    }

    @Test(
        "damage is noticed (ASI-GZ-04)",
        arguments: [
            ("gzip magic", [.gzip], Vectors.gzip, 0),
            ("gzip method", [.gzip], Vectors.gzip, 2),
            ("gzip reserved flags", [.gzip], Vectors.gzip, 3),
            ("gzip CRC", [.gzip], Vectors.gzip, Vectors.gzip.count - 8),
            ("gzip length", [.gzip], Vectors.gzip, Vectors.gzip.count - 4),
            ("gzip header CRC", [.gzip], Vectors.gzipAllFields, 4),
            ("zlib check value", [.deflate], Vectors.zlib, Vectors.zlib.count - 1),
        ] as [(String, [ContentCoding], [UInt8], Int)])
    func damage(name: String, codings: [ContentCoding], body: [UInt8], offset: Int) {
        var body = body
        body[offset] ^= 0xE0
        guard case .corrupt = decode(body, codings).error else {
            Issue.record("\(name) passed")
            return
        }
    }

    @Test("a member that begins after the first must be sound as well")
    func secondMember() {
        var second = Vectors.gzip
        second[2] = 0
        let result = decode(Vectors.gzip + second, [.gzip])
        #expect(result.error == .corrupt(.gzip, reason: "unknown compression method"))
        #expect(result.bytes == Vectors.text)
    }

    @Test("a zlib stream that wants a dictionary is refused")
    func dictionary() {
        // 78 BB: FDICT is set and the header is a multiple of 31.
        let result = decode([0x78, 0xBB, 0, 0, 0, 1, 3, 0], [.deflate])
        #expect(result.error == .corrupt(.deflate, reason: "preset dictionary"))
    }

    @Test("plain text under a coding is an error", arguments: [ContentCoding.gzip, .deflate, .brotli])
    func plain(coding: ContentCoding) {
        let result = decode(Array("<html><body>It works!</body></html>".utf8), [coding])
        #expect(result.error != nil)
    }

    @Test("without a coding to undo, pieces are handed on in place")
    func identity() throws {
        for codings in [[], [.identity], [.gzip, .unknown("x")]] as [[ContentCoding]] {
            let pool = DecoderPool()
            let decoder = try pool.take(for: codings, limits: DecodingLimits(decodedBytes: 1, ratio: 1, ratioFloor: 0))
            let bytes = Vectors.gzip
            bytes.withUnsafeBytes { input in
                #expect(throws: Never.self) {
                    try decoder.decode(input) { piece in
                        #expect(piece.baseAddress == input.baseAddress && piece.count == input.count)
                    }
                }
            }
            try decoder.finish()
            #expect(decoder.decodedBytes == bytes.count && decoder.encodedBytes == bytes.count)
            #expect(decoder.chain.undone.isEmpty)
            pool.give(decoder)
        }
    }

    @Test("known codings above an unknown one are undone, and it is said what remains")
    func unknownBelow() throws {
        let codings: [ContentCoding] = [.unknown("compress"), .gzip]
        #expect(decode(Vectors.gzip, codings).bytes == Vectors.text)
        let decoder = try DecoderPool().take(for: codings)
        #expect(decoder.chain.remaining == [.unknown("compress")])
    }

    @Test("a pool serves bodies of all codings in any order, after failures too")
    func reuse() {
        let pool = DecoderPool(capacity: 2)
        var random = SeededGenerator(seed: 7)
        for round in 0..<400 {
            let (name, codings, body) = Self.bodies[Int.random(in: 0..<Self.bodies.count, using: &random)]
            let length = Bool.random(using: &random) ? body.count : Int.random(in: 1..<body.count, using: &random)
            let result = decode(Array(body[..<length]), codings, pool: pool)
            #expect((result.error == nil) == (length == body.count), "round \(round), \(name)")
            #expect(Vectors.text.starts(with: result.bytes))
        }
    }

    @Test("several decoders of one pool work in turns")
    func interleaved() throws {
        let pool = DecoderPool()
        var decoders: [ContentDecoder] = []
        for (_, codings, _) in Self.bodies { decoders.append(try pool.take(for: codings)) }
        var results = [[UInt8]](repeating: [], count: decoders.count)
        for offset in 0..<512 {
            for (index, decoder) in decoders.enumerated() where offset < Self.bodies[index].body.count {
                var byte = Self.bodies[index].body[offset]
                try withUnsafeBytes(of: &byte) { try decoder.decode($0) { results[index] += $0 } }
            }
        }
        for (index, decoder) in decoders.enumerated() {
            try decoder.finish()
            #expect(results[index] == Vectors.text)
            pool.give(decoder)
        }
    }

    /// Decodes a body that comes in two pieces, in steps of so many bytes.
    private func steps(
        _ body: [UInt8], _ codings: [ContentCoding], atMost most: Int, cut: Int, limits: DecodingLimits = .default
    ) throws -> (bytes: [UInt8], isBounded: Bool) {
        let pool = DecoderPool()
        let decoder = try pool.take(for: codings, limits: limits)
        defer { pool.give(decoder) }
        var (bytes, isBounded): ([UInt8], Bool) = ([], true)
        for piece in pieces(of: body, at: [cut]) {
            var rest = piece
            repeat {
                let before = bytes.count
                let taken = try rest.withUnsafeBytes { input in
                    try decoder.decode(input, atMost: most) { bytes += $0 }
                }
                rest = rest.dropFirst(taken)
                if bytes.count - before > most { isBounded = false }
            } while !rest.isEmpty || decoder.hasMore
        }
        try decoder.finish()
        return (bytes, isBounded)
    }

    @Test("a decoder stops after so many bytes, and goes on without input", arguments: bodies.indices)
    func steps(index: Int) throws {
        let (_, codings, body) = Self.bodies[index]
        for most in [1, 100, 5000, 1 << 20] {
            for cut in [0, 1, body.count / 2, body.count] {
                let result = try steps(body, codings, atMost: most, cut: cut)
                #expect(result.bytes == Vectors.text && result.isBounded, "\(most) bytes, cut at \(cut)")
            }
        }
    }

    @Test("what unfolds to much behind what does not comes in steps as well")
    func bombBehindPrefix() throws {
        var random = SeededGenerator(seed: 11)
        let prefix = (0..<1 << 20).map { _ in UInt8.random(in: 0...255, using: &random) }
        let members = deflated(prefix, .gzip) + deflated(repeating: DecodingLimitsTests.megabyte, times: 16, .gzip)
        let bodies: [([ContentCoding], [UInt8])] = [([.gzip], members), ([.gzip, .gzip], deflated(members, .gzip))]
        for (codings, body) in bodies {
            let result = try steps(body, codings, atMost: 64 << 10, cut: body.count / 2)
            #expect(result.isBounded && result.bytes.count == 17 << 20)
        }
        let limits = DecodingLimits(ratio: .max)
        let decoder = try DecoderPool().take(for: [.brotli], limits: limits)
        var (count, rest) = (0, Vectors.brotliBomb[...])
        for _ in 0..<100 {
            let before = count
            let taken = try rest.withUnsafeBytes { input in
                try decoder.decode(input, atMost: 64 << 10) { count += $0.count }
            }
            rest = rest.dropFirst(taken)
            #expect(count - before <= 64 << 10 && (decoder.hasMore || !rest.isEmpty))
        }
    }

    @Test("a receiver that refuses ends the decoding for good")
    func refusal() throws {
        let decoder = try DecoderPool().take(for: [.gzip])
        var calls = 0
        for _ in 0..<2 {
            Vectors.gzip.withUnsafeBytes { input in
                _ = #expect(throws: DecodingError.refused) {
                    try decoder.decode(input) { _ throws(DecodingError) in
                        calls += 1
                        throw .refused
                    }
                }
            }
        }
        #expect(throws: DecodingError.refused) { try decoder.finish() }
        #expect(calls == 1)
    }
}
