import TestSupport
import Testing
import TrawlHTTP
import TrawlWatch

private func at(_ milliseconds: Int) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: 1_000_000_000).advanced(by: .milliseconds(milliseconds))
}

@Suite("Whether the network is in use, ASI-MISC-01")
struct ActivityTallyTests {
    @Test("the first is told at once, the last half a second later")
    func edges() {
        var tally = ActivityTally()
        #expect(tally.look(0, at: at(0)) == nil && tally.nextLook == nil)
        #expect(tally.look(1, at: at(10)) == 1)
        #expect(tally.nextLook == nil)
        #expect(tally.look(0, at: at(20)) == nil)
        #expect(tally.nextLook == at(520))
        #expect(tally.look(0, at: at(519)) == nil)
        #expect(tally.look(0, at: at(520)) == 0)
        #expect(tally.nextLook == nil)
        #expect(tally.look(3, at: at(521)) == 3, "the interval is not for the first")
    }

    @Test("a gap shorter than that is not told")
    func gap() {
        var tally = ActivityTally()
        #expect(tally.look(1, at: at(0)) == 1)
        #expect(tally.look(0, at: at(10)) == nil)
        #expect(tally.look(1, at: at(400)) == nil)
        #expect(tally.nextLook == nil)
        #expect(tally.look(0, at: at(410)) == nil)
        #expect(tally.look(0, at: at(909)) == nil)
        #expect(tally.look(0, at: at(910)) == 0)
    }

    @Test("other numbers are told four times a second at most")
    func pace() {
        var tally = ActivityTally()
        #expect(tally.look(1, at: at(0)) == 1)
        #expect(tally.look(2, at: at(10)) == nil)
        #expect(tally.nextLook == at(250))
        #expect(tally.look(5, at: at(249)) == nil)
        #expect(tally.look(5, at: at(250)) == 5)
        #expect(tally.nextLook == nil)
    }

    @Test("what is told at the end is what there is, whatever happened")
    func settles() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var tally = ActivityTally()
            var time = 0
            var told = 0
            var lastTold = -1000
            var count = 0
            for _ in 0..<100 {
                time += Int.random(in: 0...300, using: &random)
                count = Int.random(in: 0...3, using: &random)
                if let number = tally.look(count, at: at(time)) {
                    #expect(number != told && number == count, "seed \(seed)")
                    #expect(told == 0 || number == 0 || time - lastTold >= 250, "seed \(seed)")
                    (told, lastTold) = (number, time)
                }
            }
            while let next = tally.nextLook {
                if let number = tally.look(count, at: next) { told = number }
            }
            #expect(told == count, "seed \(seed)")
        }
    }
}
