import TestSupport
import Testing
import TrawlFrontier
import TrawlHTTP

@Suite("How far fetches have come")
struct ProgressTallyTests {
    private typealias Step = ProgressTally.Step

    @Test("a simple tally counts fetches, however they end (ASI-PROG-02)")
    func simple() {
        var tally = ProgressTally(.simple)
        #expect(tally.fraction == 0)
        var shares = (0..<4).map { _ in tally.add() }
        var fractions = [tally.fraction]
        for index in shares.indices {
            _ = tally.learned(1000, of: &shares[index])
            _ = tally.moved(500, of: &shares[index])
            _ = tally.ended(&shares[index], isSuccess: index != 2)
            fractions.append(tally.fraction)
        }
        #expect(fractions == [0, 0.25, 0.5, 0.75, 1])
    }

    @Test("the share of a fetch of which nothing was told need not be kept")
    func freshShares() {
        for mode in [ProgressTally.Mode.simple, .accurate] {
            var tally = ProgressTally(mode)
            for number in 0..<3 {
                #expect(tally.add() == tally.freshShare)
                if number == 1 { tally.reset() }
            }
            _ = tally.add()
            for _ in 0..<2 {
                var share = tally.freshShare
                _ = tally.ended(&share, isSuccess: false)
            }
            #expect(tally.livingCount == 0 && tally.fraction == 1)
        }
    }

    @Test("an accurate tally counts bytes (ASI-PROG-02)")
    func accurate() {
        var tally = ProgressTally(.accurate)
        var a = tally.add()
        var b = tally.add()
        #expect(tally.fraction == 0 && !tally.isInBytes)
        #expect(tally.learned(300, of: &a) == Step(size: 300))
        #expect(tally.learned(100, of: &b) == Step(size: 100))
        #expect(tally.isInBytes)
        #expect(tally.moved(100, of: &a) == Step(moved: 100))
        #expect(tally.fraction == 0.25 && tally.completed == 100 && tally.total == 400)
        #expect(tally.moved(200, of: &a) == Step(moved: 200))
        #expect(tally.ended(&a, isSuccess: true) == .none)
        #expect(tally.fraction == 0.75)
        #expect(tally.ended(&b, isSuccess: true) == Step(moved: 100), "it came from elsewhere")
        #expect(tally.fraction == 1)
        #expect(tally.ended(&b, isSuccess: true) == .none && tally.moved(5, of: &b) == .none)
    }

    @Test("what is added late moves the whole back, unless it must not (ASI-PROG-04)")
    func lateAdditions() {
        for isMonotonic in [false, true] {
            var tally = ProgressTally(.accurate, isMonotonic: isMonotonic)
            var shares: [ProgressTally.Share] = []
            var fractions: [Double] = []
            for _ in 0..<10 {
                var share = tally.add()
                _ = tally.learned(100, of: &share)
                _ = tally.moved(100, of: &share)
                fractions.append(tally.fraction)
                shares.append(share)
                // The next comes when this one is nearly done.
                var other = tally.add()
                _ = tally.learned(100, of: &other)
                fractions.append(tally.fraction)
                _ = tally.ended(&other, isSuccess: true)
            }
            #expect(tally.total == 2000)
            for index in shares.indices { _ = tally.ended(&shares[index], isSuccess: true) }
            #expect(tally.fraction == 1 && tally.completed == 2000)
            let goesBack = zip(fractions, fractions.dropFirst()).contains { $0 > $1 }
            #expect(goesBack != isMonotonic)
            if isMonotonic { #expect(fractions.allSatisfy { $0 <= 0.99 }) }
        }
    }

    @Test("a fetch without a size is one unit, and all ends at 1 (ASI-PROG-05)")
    func fallback() {
        var tally = ProgressTally(.accurate)
        var chunked = tally.add()
        #expect(tally.learned(nil, of: &chunked) == .none)
        #expect(tally.total == 1 && !tally.isInBytes)
        #expect(tally.moved(5000, of: &chunked) == Step(moved: 5000), "bytes are told all the same")
        #expect(tally.fraction == 0)
        #expect(tally.ended(&chunked, isSuccess: true) == .none)
        #expect(tally.fraction == 1 && tally.completed == 1)

        var never = tally.add()
        #expect(tally.fraction == 1, "of what is known")
        _ = tally.ended(&never, isSuccess: false)
        #expect(tally.fraction == 1)
    }

    @Test("a size that was asked for and is not confirmed gives way to one unit")
    func unconfirmed() {
        var tally = ProgressTally(.accurate)
        var share = tally.add()
        _ = tally.learned(1000, of: &share)
        _ = tally.moved(10, of: &share)
        #expect(tally.learned(nil, of: &share) == Step(size: -1000))
        #expect(tally.total == 1 && tally.completed == 0)
        _ = tally.moved(10, of: &share)
        _ = tally.ended(&share, isSuccess: true)
        #expect(tally.fraction == 1)
    }

    @Test("a resumed part that is refused, an upload that starts again: steps go back (ASI-PROG-06)")
    func negative() {
        var tally = ProgressTally(.accurate)
        var share = tally.add()
        #expect(tally.moved(400, of: &share) == Step(moved: 400))
        #expect(tally.learned(1000, of: &share) == Step(size: 1000))
        #expect(tally.fraction == 0.4)
        #expect(tally.moved(-400, of: &share) == Step(moved: -400))
        #expect(tally.learned(600, of: &share) == Step(size: -400))
        #expect(tally.fraction == 0)
        #expect(tally.moved(-1, of: &share) == .none, "no more than was moved")
        #expect(tally.moved(600, of: &share) == Step(moved: 600))
        #expect(tally.fraction == 1)
    }

    @Test("more than was announced makes the size grow, a failure makes it shrink to what was moved")
    func sizes() {
        var tally = ProgressTally(.accurate)
        var a = tally.add()
        _ = tally.learned(100, of: &a)
        #expect(tally.moved(150, of: &a) == Step(moved: 150, size: 50))
        var b = tally.add()
        _ = tally.learned(1000, of: &b)
        _ = tally.moved(50, of: &b)
        #expect(tally.ended(&b, isSuccess: false) == Step(size: -950))
        #expect(tally.completed == 200 && tally.total == 200)
    }

    @Test("after a reset old shares change nothing")
    func reset() {
        var tally = ProgressTally(.accurate)
        var old = tally.add()
        _ = tally.learned(100, of: &old)
        tally.reset()
        #expect(tally.total == 0 && tally.fraction == 0 && tally.livingCount == 0)
        #expect(tally.moved(50, of: &old) == .none && tally.learned(7, of: &old) == .none)
        #expect(tally.ended(&old, isSuccess: true) == .none)
        #expect(
            tally
                == {
                    var new = ProgressTally(.accurate); new.reset(); return new
                }())
    }

    @Test("sums hold under random events, and extremes", arguments: 0..<60 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let isMonotonic = random.bool()
        var tally = ProgressTally(random.once(in: 4) ? .simple : .accurate, isMonotonic: isMonotonic)
        var shares: [ProgressTally.Share] = []
        var told: [(moved: Int64, size: Int64)] = []
        var last = 0.0
        for _ in 0..<400 {
            if shares.isEmpty || random.once(in: 8) {
                shares.append(tally.add())
                told.append((0, 0))
            }
            let index = Int.random(in: 0..<shares.count, using: &random)
            let amount = Int64.random(in: 0...5000, using: &random)
            var step: ProgressTally.Step
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5: step = tally.moved(amount / 4, of: &shares[index])
            case 5: step = tally.moved(-amount / 2, of: &shares[index])
            case 6, 7: step = tally.learned(amount, of: &shares[index])
            case 8: step = tally.learned(nil, of: &shares[index])
            case _: step = random.bool() ? tally.ended(&shares[index], isSuccess: random.bool()) : .none
            }
            told[index].moved += step.moved
            told[index].size += step.size
            #expect(told[index].moved == shares[index].moved && told[index].size == shares[index].size, "seed \(seed)")
            #expect(tally.completed >= 0 && tally.completed <= tally.total, "seed \(seed)")
            #expect((0...1).contains(tally.fraction), "seed \(seed)")
            if isMonotonic, tally.livingCount > 0, last < 1 { #expect(tally.fraction >= last, "seed \(seed)") }
            last = tally.fraction
        }
        for index in shares.indices { _ = tally.ended(&shares[index], isSuccess: random.bool()) }
        #expect(tally.livingCount == 0 && tally.completed == tally.total && tally.fraction == 1, "seed \(seed)")
        var huge = tally.add()
        _ = tally.learned(.max, of: &huge)
        _ = tally.moved(.max, of: &huge)
        _ = tally.moved(.min, of: &huge)
        _ = tally.learned(.min, of: &huge)
        _ = tally.ended(&huge, isSuccess: true)
        #expect((0...1).contains(tally.fraction))
    }
}

@Suite("Rates, times left and reports")
struct ProgressReportTests {
    private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: UInt64(seconds * 1e9)) }

    @Test("a steady rate is measured as it is, from the first second to long after")
    func steady() {
        for start in [0, 0.1, 1000.07] {
            var meter = RateMeter()
            for tick in 0..<400 {
                let now = start + Double(tick) / 20
                if tick > 10 {
                    let rate = Double(meter.bytesPerSecond(at: at(now)))
                    #expect(abs(rate - 100_000) < 100_000 * (tick < 40 ? 0.2 : 0.06), "tick \(tick)")
                }
                meter.moved(5000, at: at(now))
            }
        }
    }

    @Test("what is five seconds old counts no more")
    func window() {
        var meter = RateMeter()
        #expect(meter.bytesPerSecond(at: at(3)) == 0)
        meter.moved(1_000_000, at: at(10))
        #expect(meter.bytesPerSecond(at: at(10)) == 4_000_000, "at least a quarter of a second")
        #expect(meter.bytesPerSecond(at: at(12)) == 500_000)
        #expect(meter.bytesPerSecond(at: at(14)) == 250_000)
        #expect(meter.bytesPerSecond(at: at(15)) == 0)
        meter.moved(1000, at: at(100))
        #expect(meter.bytesPerSecond(at: at(101)) == 1000)
    }

    @Test("steps back and a clock that stands still or goes back do no harm")
    func odd() {
        var meter = RateMeter()
        meter.moved(1000, at: at(10))
        meter.moved(-500, at: at(10))
        meter.moved(1000, at: at(9))
        #expect(meter.bytesPerSecond(at: at(8)) == 8000)
        for _ in 0..<10 { meter.moved(.max, at: at(11)) }
        #expect(meter.bytesPerSecond(at: at(11)) > 0)
        #expect(meter.bytesPerSecond(at: MonotonicInstant(nanoseconds: .max)) == 0)
        meter.moved(1, at: MonotonicInstant(nanoseconds: .max))
        #expect(meter.bytesPerSecond(at: MonotonicInstant(nanoseconds: .max)) == 4)
    }

    @Test("the time left is by the rate where bytes are known, else by what was done so far")
    func remaining() {
        var tally = ProgressTally(.accurate)
        var share = tally.add()
        #expect(ProgressReport(of: tally, bytesPerSecond: 100, elapsed: .seconds(1)).remaining == nil)
        _ = tally.learned(1000, of: &share)
        _ = tally.moved(400, of: &share)
        #expect(ProgressReport(of: tally, bytesPerSecond: 100, elapsed: .seconds(9)).remaining == .seconds(6))
        #expect(ProgressReport(of: tally, bytesPerSecond: 0, elapsed: .seconds(9)).remaining == nil)
        _ = tally.ended(&share, isSuccess: true)
        let report = ProgressReport(of: tally, bytesPerSecond: 0, elapsed: .seconds(9))
        #expect(report.remaining == .zero && report.fraction == 1 && report.completed == 1000 && report.total == 1000)

        var simple = ProgressTally(.simple)
        var shares = (0..<4).map { _ in simple.add() }
        #expect(ProgressReport(of: simple, bytesPerSecond: 5, elapsed: .seconds(9)).remaining == nil)
        _ = simple.ended(&shares[0], isSuccess: true)
        #expect(ProgressReport(of: simple, bytesPerSecond: 5, elapsed: .seconds(9)).remaining == .seconds(27))

        var endless = ProgressTally(.accurate)
        var huge = endless.add()
        _ = endless.learned(.max, of: &huge)
        let most = ProgressReport(of: endless, bytesPerSecond: 1, elapsed: .zero).remaining ?? .zero
        #expect(most == .seconds(100 * 366 * 86_400))
    }

    @Test("four reports a second at most, and always a final one")
    func pace() {
        var pacer = ReportPacer()
        var reports = 0
        for tick in 0..<10_000 where pacer.isDue(at: at(Double(tick) / 1000)) { reports += 1 }
        #expect(reports == 40)
        #expect(pacer.next == at(10))
        #expect(pacer.isDue(at: at(9.999), isFinal: true) == true)
        #expect(pacer.isDue(at: at(9.9999)) == false)
    }
}
