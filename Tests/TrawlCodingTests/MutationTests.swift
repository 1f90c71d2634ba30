import TestSupport
import Testing
import TrawlCoding
import TrawlHTTP

@Suite("Damaged bodies, seeded")
struct MutationTests {
    /// Changes, removes, repeats or inserts bytes in a few places.
    static func mutated(_ body: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        var body = body
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let offset = Int.random(in: 0...body.count, using: &random)
            let end = min(body.count, offset + Int.random(in: 0...8, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where offset < body.count: body[offset] = UInt8.random(in: 0...255, using: &random)
            case 1 where offset < body.count: body[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: body.removeSubrange(offset..<end)
            case 3: body.insert(contentsOf: body[offset..<end], at: offset)
            case 4: body.removeSubrange(offset...)
            default: body.insert(UInt8.random(in: 0...255, using: &random), at: offset)
            }
        }
        return body
    }

    @Test("chunked bodies never crash, and never depend on how they are cut", arguments: [1, 2, 3, 4] as [UInt64])
    func chunks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limits = ChunkLimits(extensionBytes: 8, extensionAllowance: 16, trailerBytes: 40, trailerFields: 3)
        for round in 0..<5_000 {
            let (text, _) = ChunkDecoderTests.valid[Int.random(in: 0..<ChunkDecoderTests.valid.count, using: &random)]
            let body = Self.mutated(Array(text.utf8), using: &random)
            let whole = dechunk(body, limits: limits)
            let cut = dechunk(body, cuts: randomCuts(body.count, 6, using: &random), limits: limits)
            #expect(whole == cut, "seed \(seed), round \(round): \(body)")
            #expect(whole.content.count + whole.excess <= body.count, "seed \(seed), round \(round): \(body)")
            #expect(whole.trailers.count <= 3, "seed \(seed), round \(round): \(body)")
        }
    }

    @Test(
        "encoded bodies never crash, never exceed limits, and never depend on how they are cut",
        arguments: [1, 2, 3, 4] as [UInt64])
    func codings(seed: UInt64) {
        var random = SeededGenerator(seed: seed &* 0x1_0001)
        let pool = DecoderPool(capacity: 4)
        let limits = DecodingLimits(decodedBytes: 1 << 20, ratio: 200, ratioFloor: 4 << 10)
        var bodies = ContentDecoderTests.bodies
        bodies.append(("members", [.gzip], Vectors.gzip + [0, 0] + Vectors.gzipAllFields + [1]))
        for round in 0..<5_000 {
            // Each brotli bomb takes some milliseconds, so it has its turn only now and then.
            let (name, codings, body) =
                round.isMultiple(of: 250)
                ? ("bomb", [.brotli], Vectors.brotliBomb) : bodies[Int.random(in: 0..<bodies.count, using: &random)]
            let damaged = Self.mutated(body, using: &random)
            let whole = decode(damaged, codings, limits: limits, pool: pool)
            let cut = decode(
                damaged, codings, cuts: randomCuts(damaged.count, 6, using: &random), limits: limits, pool: pool)
            let context = "seed \(seed), round \(round), \(name): \(damaged)"
            for result in [whole, cut] {
                #expect(result.count <= 1 << 20 && result.largestPiece <= 64 << 10, "\(context)")
            }
            if whole.error == nil && cut.error == nil {
                #expect(whole.bytes == cut.bytes && whole.ignored == cut.ignored, "\(context)")
            } else if !Self.isRatio(whole.error) && !Self.isRatio(cut.error) {
                // When the ratio is looked at depends on the cuts; everything else does not.
                #expect((whole.error == nil) == (cut.error == nil), "\(context)")
            }
        }
    }

    @Test("bytes without any meaning never crash", arguments: [1, 2] as [UInt64])
    func noise(seed: UInt64) {
        var random = SeededGenerator(seed: seed &* 0x5DEE_CE66)
        let pool = DecoderPool()
        for round in 0..<3_000 {
            let body = (0..<Int.random(in: 1...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            for coding in [ContentCoding.gzip, .deflate, .brotli] {
                let result = decode(body, [coding], limits: DecodingLimits(decodedBytes: 1 << 20), pool: pool)
                #expect(result.count <= 1 << 20, "seed \(seed), round \(round), \(coding): \(body)")
            }
            #expect(dechunk(body).error != nil || body.contains(0x0D), "seed \(seed), round \(round): \(body)")
        }
    }

    private static func isRatio(_ error: DecodingError?) -> Bool {
        if case .ratioTooHigh = error { return true }
        return false
    }
}
