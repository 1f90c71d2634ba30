import Testing
import TrawlHTTP

@testable import TrawlCommand

@Suite("From one progress line to the next")
struct ProgressPaceTests {
    private func instant(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    @Test("what earlier runs did makes the rest no faster")
    func resumed() {
        var pace = ProgressPace(at: instant(0))
        var many = ProgressLine.Many(done: 30_000, failed: 0, total: 30_100, bytes: 0)
        many.skipped = 30_000
        let first = pace.text(many, inFlight: 0, width: 200, hasBar: false, at: instant(500))
        #expect(first == "30000/30100  0B  0B/s")
        many.done = 30_002
        let second = pace.text(many, inFlight: 0, width: 200, hasBar: false, at: instant(1500))
        #expect(second == "30002/30100  0B  0B/s  ETA 0:49")
    }

    @Test("bytes in flight count, and what was shown is not taken back")
    func inFlight() {
        var pace = ProgressPace(at: instant(0))
        var many = ProgressLine.Many(done: 0, failed: 0, total: 2, bytes: 0)
        let first = pace.text(many, inFlight: 1 << 20, width: 200, hasBar: false, at: instant(1000))
        #expect(first == "0/2  1.0M  1.0M/s")
        // One is over and not counted yet.
        let between = pace.text(many, inFlight: 0, width: 200, hasBar: false, at: instant(2000))
        #expect(between.hasPrefix("0/2  1.0M  "))
        many.done = 1
        many.bytes = 1 << 20
        let second = pace.text(many, inFlight: 1 << 20, width: 200, hasBar: false, at: instant(3000))
        #expect(second.hasPrefix("1/2  2.0M  "))
    }

    @Test("what comes after many bytes in flight were lost has its rate")
    func lost() {
        var pace = ProgressPace(at: instant(0))
        let many = ProgressLine.Many(done: 0, failed: 0, total: 2, bytes: 0)
        var text = pace.text(many, inFlight: 900 << 20, width: 200, hasBar: false, at: instant(1000))
        #expect(text == "0/2  900M  900M/s")
        for second in 0...60 as ClosedRange<UInt64> {
            text = pace.text(
                many, inFlight: second * 10 << 20, width: 200, hasBar: false, at: instant((second + 2) * 1000))
        }
        #expect(text == "0/2  900M  10.0M/s")
    }

    @Test("rates follow what changes, over about five seconds")
    func speed() {
        var speed = Speed(at: instant(0))
        speed.update(bytes: 1000, fetches: 10, at: instant(1000))
        #expect(speed.bytes == 1000 && speed.fetches == 10)
        // Too soon to tell.
        speed.update(bytes: 9000, fetches: 90, at: instant(1010))
        #expect(speed.bytes == 1000 && speed.fetches == 10)
        for second in 2...40 { speed.update(bytes: 1000, fetches: 10, at: instant(UInt64(second) * 1000)) }
        #expect(speed.bytes < 1 && speed.fetches < 0.01)
    }
}
