import Testing
import TrawlFrontier
import TrawlHTTP

@Suite("For how long something was under way")
struct BusyTimeTests {
    private func at(_ seconds: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

    @Test("the time before, between and after does not count")
    func idle() {
        var time = BusyTime()
        #expect(!time.isBusy && time.total(at: at(100)) == .zero)
        time.set(true, at: at(100))
        #expect(time.isBusy && time.total(at: at(103)) == .seconds(3))
        time.set(true, at: at(104))
        time.set(false, at: at(105))
        #expect(!time.isBusy && time.total(at: at(200)) == .seconds(5))
        time.set(false, at: at(300))
        time.set(true, at: at(1000))
        #expect(time.total(at: at(1002)) == .seconds(7))
    }

    @Test("what was before a reset counts no more, and what is under way goes on")
    func reset() {
        var time = BusyTime()
        time.set(true, at: at(1))
        time.reset(at: at(10))
        #expect(time.isBusy && time.total(at: at(12)) == .seconds(2))
        time.set(false, at: at(12))
        time.reset(at: at(20))
        #expect(!time.isBusy && time.total(at: at(30)) == .zero)
    }

    @Test("a clock that goes back takes nothing away")
    func back() {
        var time = BusyTime()
        time.set(true, at: at(10))
        #expect(time.total(at: at(9)) == .zero)
        time.set(false, at: at(9))
        #expect(time.total(at: at(9)) == .zero)
    }
}
