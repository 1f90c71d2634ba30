import Testing

@testable import TrawlSession

@Suite("Counts of a nonce, ASI-AUTH-05")
struct NonceCounterTests {
    @Test("counts begin at one, go up by one and end with eight digits of f")
    func counts() {
        var counter = NonceCounter(nonce: [1])
        var seen: [UInt32?] = []
        for _ in 0..<300 { seen.append(counter.next()) }
        let expected: [UInt32?] = (1...300).map { UInt32($0) }
        #expect(seen == expected)
        var last = NonceCounter(nonce: [1], after: .max - 2)
        seen = []
        for _ in 0..<4 { seen.append(last.next()) }
        #expect(seen == [.max - 1, .max, nil, nil])
    }

    @Test("eight digits are read back, and nothing else")
    func digits() {
        for number in [0, 1, 0xAB, 0x1234_5678, .max] as [UInt32] {
            #expect(Hexadecimal.number(Hexadecimal.text(number)) == number)
        }
        #expect(Hexadecimal.number("0000ABCD".raw) == 0xABCD)
        for text in ["", "1", "0000000g", "000000001", "0000000:", "-0000001", "\u{10}0000000"] {
            #expect(Hexadecimal.number(text.raw) == nil, "\(text)")
        }
    }
}
