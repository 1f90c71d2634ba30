import TestSupport
import Testing
import TrawlHTTP

@Suite("Rates as people write them")
struct ByteRateTests {
    @Test(
        "numbers with and without units",
        arguments: [
            ("0", 0), ("0M", 0), ("0.0k/s", 0), ("1", 1), ("1/s", 1), ("1000", 1000), ("007", 7), ("500k", 512_000),
            ("500K/s", 512_000), ("10M", 10 << 20), ("10m/s", 10 << 20), ("1.5G/s", 3 << 29), ("2T", 2 << 40),
            ("0.5k", 512), ("14.8k", 15_155), ("0.000000001T", 1099),
            ("0.99999999999999999999k", 1023), ("9223372036854775807", Int.max), ("8388607T", 8_388_607 << 40),
            ("9007199254740991k", 9_007_199_254_740_991 << 10),
        ] as [(String, Int)])
    func rates(_ text: String, _ expected: Int) throws {
        #expect(try ByteRate(text).bytesPerSecond == UInt64(expected), "\(text)")
        #expect(try ByteRate(text).isNone == (expected == 0))
    }

    @Test(
        "what is no rate, and why",
        arguments: [
            ("", .empty), ("-1", .negative), ("-", .negative), ("-0", .negative), ("k", .number("k")),
            (".5k", .number(".5k")), ("+5", .number("+5")), (" 5", .number(" 5")), ("1,5M", .number("1,5M")),
            ("1e6", .number("1e6")), ("1.2.3", .number("1.2.3")), ("1.", .number("1.")), ("1.k", .number("1.k")),
            ("0x10", .number("0x10")), ("10MB", .unit("MB")),
            ("10MiB/s", .unit("MiB/s")), ("10 M", .unit(" M")), ("10Mbit/s", .unit("Mbit/s")), ("5X", .unit("X")),
            ("10M/m", .unit("M/m")), ("10/", .unit("/")), ("10M/S", .unit("M/S")), ("10M/s ", .unit("M/s ")),
            ("5kk", .unit("kk")), ("0.5", .tooSmall), ("0.0001k", .tooSmall), ("0.00000000000000001T", .tooSmall),
            ("9223372036854775808", .tooLarge), ("8388608T", .tooLarge), ("99999999999999999999999", .tooLarge),
            ("18446744073709551615T", .tooLarge), ("５M", .number("５M")),
        ] as [(String, ByteRate.Mistake)])
    func mistakes(_ text: String, _ expected: ByteRate.Mistake) {
        #expect(throws: expected, "\(text)") { try ByteRate(text) }
    }

    @Test("advice names the right form, and bits for what they are")
    func advice() {
        for mistake in [.empty, .negative, .number("x"), .unit("MB"), .tooSmall] as [ByteRate.Mistake] {
            #expect(mistake.advice.contains("10M"))
        }
        for unit in ["Mbit/s", "mbps", "Mb/s", "kbits"] {
            #expect(ByteRate.Mistake.unit(unit).advice.contains("not bits"), "\(unit)")
        }
        #expect(!ByteRate.Mistake.unit("MB/s").advice.contains("bits"))
        #expect(ByteRate.Mistake.unit(String(repeating: "x", count: 10_000)).advice.utf8.count < 200)
    }

    @Test("whatever is written, it is a rate or an error")
    func garbage() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = String((0..<count).map { _ in random.pick(Array("0123456789.kMGT/s-+ eB")) })
            if let rate = try? ByteRate(text) { #expect(rate.bytesPerSecond <= UInt64(Int64.max)) }
        }
        #expect(ByteRate(bytesPerSecond: .max).bytesPerSecond == UInt64(Int64.max))
    }
}
