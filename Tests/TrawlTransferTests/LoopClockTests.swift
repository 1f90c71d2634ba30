import Testing

@testable import TrawlTransfer

@Suite("The clock of a loop's turns")
struct LoopClockTests {
    @Test("of a turn that took longer than a second the rest is lost, and not counted")
    func lost() {
        let clock = LoopClock()
        let start = clock.now
        clock.pass(to: start + 500_000_000)
        #expect(clock.running == 500_000_000 && clock.lost == 0)
        clock.pass(to: start + 31_500_000_000)
        #expect(clock.running == 1_500_000_000 && clock.lost == 30_000_000_000)
        clock.pass(to: start + 31_500_000_001)
        #expect(clock.running == 1_500_000_001 && clock.lost == 30_000_000_000)
    }

    @Test("the time since the boot has that of suspensions too")
    func sinceBoot() {
        let clock = LoopClock()
        let before = clock.sinceBoot
        clock.advance()
        #expect(clock.sinceBoot >= before && clock.sinceBoot >= clock.now)
    }
}
