import Testing
import TrawlHTTP

@testable import TrawlCommand

@Suite("How many lines are set aside in search of others")
struct AsidePaceTests {
    private func at(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000_000 + milliseconds * 1_000_000)
    }

    /// Sets aside what may be in a spell.
    private func spell(_ pace: inout AsidePace, at now: MonotonicInstant, until end: MonotonicInstant) -> Int {
        var count = 0
        while pace.hasLeft(at: now) {
            pace.setAside()
            count += 1
        }
        pace.endSpell(from: now, to: end)
        return count
    }

    /// Sets aside what may be in spells that take no time.
    private func drain(_ pace: inout AsidePace, at now: MonotonicInstant) -> Int {
        var count = 0
        while case let more = spell(&pace, at: now, until: now), more > 0 { count += more }
        return count
    }

    @Test("many at once, then so many a second, and more for each that starts")
    func pace() {
        var pace = AsidePace(at: at(0))
        #expect(drain(&pace, at: at(0)) == AsidePace.most)
        #expect(pace.next > at(0) && pace.next <= at(100))
        #expect(drain(&pace, at: at(0)) == 0)
        #expect(drain(&pace, at: at(500)) == Int(AsidePace.inASecond) / 2)
        #expect(drain(&pace, at: at(3_600_000)) == AsidePace.most)
        pace.started()
        #expect(drain(&pace, at: at(3_600_000)) == AsidePace.forAStart)
        // Looked at often, no time is lost.
        var count = 0
        for step in 1...2000 as ClosedRange<UInt64> { count += drain(&pace, at: at(3_600_000 + step)) }
        #expect(abs(count - 2 * Int(AsidePace.inASecond)) <= 2)
    }

    @Test("a search in which nothing starts has a quarter of the time, however long its lines take")
    func rest() {
        var pace = AsidePace(at: at(0))
        func full(at now: MonotonicInstant, until end: MonotonicInstant) {
            let count = spell(&pace, at: now, until: end)
            #expect(count == AsidePace.inASpell)
        }
        full(at: at(0), until: at(100))
        #expect(pace.next == at(400))
        #expect(spell(&pace, at: at(399), until: at(399)) == 0)
        full(at: at(400), until: at(400))
        #expect(pace.next == at(400))
        // Stopped for an hour, and by a clock that goes back.
        full(at: at(400), until: at(3_600_400))
        #expect(pace.next == at(3_603_400))
        full(at: at(3_603_400), until: at(3_603_000))
        #expect(pace.next == at(3_603_000))
    }

    @Test("what starts pays for sixty-four lines, in the search's time too")
    func paid() {
        var pace = AsidePace(at: at(0))
        for _ in 0..<10 {
            pace.started()
            for _ in 0..<AsidePace.forAStart {
                let hasLeft = pace.hasLeft(at: at(0))
                #expect(hasLeft)
                pace.setAside()
            }
        }
        pace.endSpell(from: at(0), to: at(100))
        #expect(pace.next == at(0))
        // A hundred of two hundred lines too many, and one that started.
        pace.started()
        for _ in 0..<164 { pace.setAside() }
        pace.endSpell(from: at(0), to: at(165))
        #expect(pace.next == at(465))
    }
}
