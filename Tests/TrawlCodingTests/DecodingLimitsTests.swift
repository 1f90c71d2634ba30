import Testing
import TrawlCoding

@Suite("Decoding of bodies that unfold")
struct DecodingLimitsTests {
    static let megabyte = [UInt8](repeating: 0, count: 1 << 20)
    /// 64 MiB of zeros in one layer of gzip.
    static let gzipBomb = deflated(repeating: megabyte, times: 64, .gzip)

    @Test("more layers than allowed are refused before any byte")
    func layers() {
        let pool = DecoderPool()
        let ten = [ContentCoding](repeating: .gzip, count: 10)
        #expect(throws: DecodingError.tooManyLayers(limit: 3)) { try pool.take(for: ten) }
        #expect(throws: DecodingError.tooManyLayers(limit: 9)) {
            try pool.take(for: ten, limits: DecodingLimits(layers: 9))
        }
        #expect(throws: Never.self) { try pool.take(for: ten, limits: DecodingLimits(layers: 10)) }
        // Layers that are not undone do not count.
        #expect(throws: Never.self) { try pool.take(for: ten + [.unknown("x")]) }
    }

    @Test("br over br is refused before any byte, whatever lies between")
    func stackedBrotli() {
        let pool = DecoderPool()
        for codings in [[.brotli, .brotli], [.brotli, .gzip, .brotli]] as [[ContentCoding]] {
            #expect(throws: DecodingError.stackedBrotli) { try pool.take(for: codings) }
        }
        #expect(throws: Never.self) { try pool.take(for: [.gzip, .brotli, .gzip]) }
        // What is not undone does not count.
        #expect(throws: Never.self) { try pool.take(for: [.brotli, .unknown("x"), .brotli]) }
    }

    @Test("bodies in br have so much memory together, and short ones theirs in any case")
    func brotliMemory() throws {
        // Room for the windows of two bombs.
        let pool = DecoderPool(brotliBytes: 40 << 20)
        var decoders: [ContentDecoder] = []
        func bomb() throws -> DecodingError? {
            let decoder = try pool.take(for: [.brotli])
            decoders.append(decoder)
            return Vectors.brotliBomb.withUnsafeBytes { bytes in
                do throws(DecodingError) {
                    try decoder.decode(bytes) { _ in }
                    return nil
                } catch {
                    return error
                }
            }
        }
        for _ in 0..<2 { #expect(try bomb() == .ratioTooHigh(limit: 250)) }
        for _ in 0..<20 { #expect(try bomb() == .tooMuchMemory(limit: 40 << 20)) }
        let short = decode(Vectors.brotli, [.brotli], pool: pool)
        #expect(short.error == nil && short.bytes == Vectors.text)
        for decoder in decoders { pool.give(decoder) }
        decoders = []
        for _ in 0..<2 { #expect(try bomb() == .ratioTooHigh(limit: 250)) }
    }

    @Test("a body within the floor may have any ratio")
    func floor() {
        let body = deflated(repeating: Self.megabyte, times: 8, .gzip)
        let result = decode(body, [.gzip], keep: false)
        #expect(result.error == nil && result.count == 8 << 20 && result.largestPiece <= 64 << 10)
    }

    @Test("one layer of zeros stops at the ratio", arguments: [[], [1], [100, 5000]] as [Cuts])
    func ratio(cuts: Cuts) {
        let result = decode(Self.gzipBomb, [.gzip], cuts: cuts, keep: false)
        #expect(result.error == .ratioTooHigh(limit: 250))
        #expect(result.count <= 8 << 20 && result.largestPiece <= 64 << 10)
    }

    @Test("a generous ratio lets it pass, and the size limit stops it to the byte")
    func size() {
        let generous = DecodingLimits(ratio: 2000)
        #expect(decode(Self.gzipBomb, [.gzip], limits: generous, keep: false).count == 64 << 20)
        for (limit, passes) in [(64 << 20, true), ((64 << 20) - 1, false), (1, false)] {
            let limits = DecodingLimits(decodedBytes: limit, ratio: 2000)
            let result = decode(Self.gzipBomb, [.gzip], limits: limits, keep: false)
            #expect(result.error == (passes ? nil : .tooLarge(limit: limit)))
            #expect(result.count <= limit)
        }
    }

    @Test("a brotli bomb stops at the ratio")
    func brotli() {
        // 256 MiB in 203 bytes.
        let result = decode(Vectors.brotliBomb, [.brotli], keep: false)
        #expect(result.error == .ratioTooHigh(limit: 250))
        #expect(result.count <= 8 << 20 && result.largestPiece <= 64 << 10)
        let bytewise = decode(
            Vectors.brotliBomb, [.brotli], cuts: Array(1..<Vectors.brotliBomb.count), keep: false)
        #expect(bytewise.error == .ratioTooHigh(limit: 250) && bytewise.count <= 8 << 20)
    }

    @Test("ten layers of gzip stop at the ratio, far below what they would unfold to")
    func nested() {
        var body = Self.gzipBomb
        for _ in 1..<10 { body = deflated(body, .gzip) }
        #expect(body.count < 1000)
        let codings = [ContentCoding](repeating: .gzip, count: 10)
        let result = decode(body, codings, limits: DecodingLimits(layers: 10), keep: false)
        #expect(result.error == .ratioTooHigh(limit: 250))
        #expect(result.count <= 8 << 20 && result.largestPiece <= 64 << 10)
    }

    @Test("a body that unfolds in the middle and shrinks again is stopped too")
    func middle() {
        let emptyMember = deflated([], .gzip)
        let members = [[UInt8]](repeating: emptyMember, count: 4096).flatMap { $0 }
        let body = deflated(repeating: members, times: 200, .gzip)
        let result = decode(body, [.gzip, .gzip], limits: DecodingLimits(ratio: 100), keep: false)
        #expect(result.error == .ratioTooHigh(limit: 100))
        #expect(result.count == 0)
    }

    @Test("limits at the ends of their range do not overflow")
    func extremes() {
        let none = DecodingLimits(layers: .max, decodedBytes: .max, ratio: .max, ratioFloor: .max)
        #expect(decode(Vectors.gzip, [.gzip], limits: none).bytes == Vectors.text)
        let least = DecodingLimits(layers: 1, decodedBytes: 1, ratio: 1, ratioFloor: 0)
        #expect(decode(Vectors.gzip, [.gzip], limits: least).error == .tooLarge(limit: 1))
    }
}
