import TestSupport
import Testing

@testable import TrawlSession

@Suite("Counts of a nonce, ASI-AUTH-05")
struct NonceCounterTests {
    @Test("no count is handed out twice, singly or in blocks, in any order of use", arguments: 0..<20)
    func unique(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var counter = NonceCounter(nonce: [1])
        var seen: Set<UInt32> = []
        var total = 0
        for _ in 0..<300 {
            if generator.bool() {
                guard let count = counter.next() else {
                    Issue.record("seed \(seed): used up")
                    return
                }
                #expect(seen.insert(count).inserted, "seed \(seed): \(count)")
                total += 1
            } else {
                let wanted = UInt32.random(in: 1...20, using: &generator)
                guard var block = counter.block(of: wanted) else {
                    Issue.record("seed \(seed): used up")
                    return
                }
                #expect(block.count == wanted)
                // A worker may die with part of its block unused.
                for _ in 0..<UInt32.random(in: 0...wanted, using: &generator) {
                    guard let count = block.next() else {
                        Issue.record("seed \(seed): block used up")
                        return
                    }
                    #expect(seen.insert(count).inserted, "seed \(seed): \(count)")
                    total += 1
                }
            }
        }
        #expect(seen.count == total)
        #expect(!seen.contains(0))
    }

    private func hasBlock(_ counter: inout NonceCounter, _ count: UInt32) -> Bool {
        if let _ = counter.block(of: count) { true } else { false }
    }

    @Test("counts begin at one and end with eight digits of f")
    func ends() {
        var counter = NonceCounter(nonce: [])
        #expect(counter.next() == 1)
        #expect(!hasBlock(&counter, 0))
        guard let large = counter.block(of: .max - 2) else {
            Issue.record("no block")
            return
        }
        #expect(large.first == 2 && large.count == .max - 2)
        guard var last = counter.block(of: 5) else {
            Issue.record("no block")
            return
        }
        #expect(last.count == 1)
        #expect(last.next() == .max)
        #expect(last.next() == nil)
        #expect(last.next() == nil)
        #expect(counter.next() == nil)
        #expect(!hasBlock(&counter, 1))
    }

    @Test(
        "a block that came in a lease is checked",
        arguments: [
            (UInt32(1), UInt32(1), true), (1, .max, true), (.max, 1, true), (.max, 2, false), (0, 1, false),
            (1, 0, false), (2, .max, false),
        ])
    func leased(first: UInt32, count: UInt32, isValid: Bool) {
        var counts: UInt32 = 0
        var next: UInt32?
        if var block = NonceBlock(nonce: [1], startingAt: first, count: count) {
            counts = block.count
            next = block.next()
        }
        #expect(counts == (isValid ? count : 0))
        #expect(next == (isValid ? first : nil))
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
