import Testing
import TrawlHTTP
import TrawlPlatform

@Suite("Clocks")
struct ClocksTests {
    @Test("the monotonic clock does not go back")
    func monotonic() {
        let first = MonotonicClock.now()
        let second = MonotonicClock.now()
        #expect(first <= second)
        #expect(first.nanoseconds > 0)
    }

    @Test("the wall clock gives nanoseconds within a second")
    func wall() {
        let now = WallClock.now()
        #expect(now.seconds > 1_600_000_000)
        #expect((0..<1_000_000_000).contains(now.nanoseconds))
    }
}
