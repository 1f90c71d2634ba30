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
            meter.sample(
                [count(UInt64(tick) * 250), count(UInt64(tick) * 250)],
                at: start.advanced(by: .milliseconds(250 * tick)))
        }
        #expect(meter.average == 2000)
        // Silence for two seconds and a half: half of the window, which is between 4.75 and 5 s long.
        for tick in 41...50 {
            meter.sample([count(10_000), count(10_000)], at: start.advanced(by: .milliseconds(250 * tick)))
        }
        #expect((900...1000).contains(meter.average))
    }

    @Test("a worker that begins anew takes nothing away")
    func restart() {
        let meter = BandwidthMeter()
        meter.sample([count(0)], at: start)
        meter.sample([count(1000)], at: start.advanced(by: .seconds(1)))
        meter.sample([count(500)], at: start.advanced(by: .seconds(2)))
        #expect(meter.average == 750)
        #expect(meter.use.received == 750 && meter.use.sent == 750)
    }

    /// So many bytes, half of them sent.
    private func count(_ bytes: UInt64) -> BandwidthMeter.Counters {
        BandwidthMeter.Counters(received: bytes - bytes / 2, sent: bytes / 2)
    }
}
