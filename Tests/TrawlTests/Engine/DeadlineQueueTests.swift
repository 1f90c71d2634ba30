import TestSupport
import Testing
import TrawlHTTP

@testable import Trawl

@Suite("Deadlines of fetches")
struct DeadlineQueueTests {
    private func instant(_ nanoseconds: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: nanoseconds) }

    @Test("they come up in order, and not before their time", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = DeadlineQueue()
        let times = (0..<500).map { _ in UInt64.random(in: 0..<300, using: &random) }
        for (place, time) in times.enumerated() {
            queue.insert(FetchKey(use: 1, place: place), deadline: instant(time))
        }
        #expect(queue.earliest == times.min().map(instant))
        var seen: [Int] = []
        for now in stride(from: UInt64(0), through: 308, by: 7) {
            while let key = queue.next(dueAt: instant(now)) {
                #expect(times[key.place] <= now)
                seen.append(key.place)
            }
            #expect(queue.earliest.map { $0 > instant(now) } ?? true)
        }
        #expect(seen.sorted() == Array(0..<500))
        #expect(seen.map { times[$0] } == times.sorted())
    }

    @Test("entries of ended fetches are dropped when they are the most")
    func compaction() {
        var queue = DeadlineQueue()
        for place in 0..<10_000 {
            queue.insert(FetchKey(use: 1, place: place), deadline: instant(UInt64(20_000 - place)))
        }
        queue.compact(living: 10_000) { _ in false }
        #expect(queue.count == 10_000)
        queue.compact(living: 10) { $0.fetch.place < 10 }
        #expect(queue.count == 10)
        var places: [Int] = []
        while let key = queue.next(dueAt: instant(.max)) { places.append(key.place) }
        #expect(places == Array(0..<10).reversed())
    }

    @Test("of a fetch whose deadline changes again and again one entry is kept")
    func changes() {
        var queue = DeadlineQueue()
        let key = FetchKey(use: 1, place: 0)
        for time in 0..<5000 as Range<UInt64> {
            queue.insert(key, deadline: instant(time))
            queue.insert(key, deadline: instant(9000))
        }
        queue.compact(living: 1) { $0.deadline == instant(9000) }
        #expect(queue.count == 1 && queue.earliest == instant(9000))
    }

    @Test("where all entries are needed it is not looked at them again before there are twice as many")
    func compactionInVain() {
        var queue = DeadlineQueue()
        var looks = 0
        for time in 1...10_000 as ClosedRange<UInt64> {
            queue.insert(FetchKey(use: 1, place: 0), deadline: instant(time))
            queue.compact(living: 1) { _ in
                looks += 1
                return true
            }
        }
        #expect(queue.count == 10_000 && looks < 20_000, "\(looks) looks")
        queue.compact(living: 1) { _ in false }
        #expect(queue.count == 10_000, "fewer than twice as many as the last time")
    }

    @Test("all may be put off by as much")
    func postponing() {
        var queue = DeadlineQueue()
        for (place, time) in [30, 10, 20].enumerated() {
            queue.insert(FetchKey(use: 1, place: place), deadline: instant(UInt64(time)))
        }
        queue.postpone(by: .nanoseconds(100))
        #expect(queue.earliest == instant(110))
        #expect(queue.next(dueAt: instant(109)) == nil)
        #expect(queue.next(dueAt: instant(125))?.place == 1)
        #expect(queue.next(dueAt: instant(125))?.place == 2)
        #expect(queue.next(dueAt: instant(125)) == nil)
    }
}
