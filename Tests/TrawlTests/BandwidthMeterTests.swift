import Testing
import TrawlHTTP

@testable import Trawl

@Suite("The measured bandwidth, ASI-THR-04")
struct BandwidthMeterTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    @Test("the average is of the last five seconds")
    func average() {
        let meter = BandwidthMeter()
        #expect(meter.average == 0)
        for tick in 0...40 {
            meter.sample([UInt64(tick) * 250, UInt64(tick) * 250], at: start.advanced(by: .milliseconds(250 * tick)))
        }
        #expect(meter.average == 2000)
        // Silence for two seconds and a half: half of the window, which is between 4.75 and 5 s long.
        for tick in 41...50 { meter.sample([10_000, 10_000], at: start.advanced(by: .milliseconds(250 * tick))) }
        #expect((900...1000).contains(meter.average))
    }

    @Test("a worker that begins anew takes nothing away")
    func restart() {
        let meter = BandwidthMeter()
        meter.sample([0], at: start)
        meter.sample([1000], at: start.advanced(by: .seconds(1)))
        meter.sample([500], at: start.advanced(by: .seconds(2)))
        #expect(meter.average == 750)
    }
}
