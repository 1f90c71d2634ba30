import Testing
import TrawlWatch

@Suite("What is counted")
struct EngineCountsTests {
    @Test("responses by class and by what the cache had to do with them")
    func responses() {
        var counts = EngineCounts()
        for status in [100, 200, 204, 301, 404, 503, 599, 600, 99, 0, -5, 999] {
            counts.responded(status: status, from: .network)
        }
        counts.responded(5, status: 200, from: .cache)
        counts.responded(status: 200, from: .validated)
        counts.responded(status: 200, from: .stale)
        counts.responded(status: 504, from: .nobody)
        #expect(counts.responses == [5, 1, 9, 1, 1, 3])
        #expect(counts.done == 20)
        #expect(counts.cache.hits == 5 && counts.cache.validated == 1 && counts.cache.stale == 1)
        #expect(counts.cache.misses == 12)
        #expect(counts.cache.share == 7.0 / 19)
        #expect(EngineCounts().cache.share == nil)
    }

    @Test("kinds of errors, the most frequent first, and no more than so many")
    func failures() {
        var counts = EngineCounts()
        for code in ["timeout", "dns", "timeout", "connect"] { counts.failed(code) }
        #expect(counts.failuresByCount.map(\.code) == ["timeout", "connect", "dns"])
        #expect(counts.failed == 4)
        for number in 0..<200 { counts.failed("kind\(number)") }
        #expect(counts.failures.count == EngineCounts.mostKinds)
        #expect(counts.failed == 204)
        #expect(counts.failures["other"] == 204 - 4 - UInt64(EngineCounts.mostKinds - 4))
    }

    @Test("hops by their connection")
    func hops() {
        var counts = EngineCounts(measuresTimes: true)
        counts.hopEnded(wasConnected: true, reused: false, firstByte: 1500)
        counts.hopEnded(wasConnected: true, reused: true, firstByte: 0)
        counts.hopEnded(wasConnected: false, reused: false, firstByte: 0)
        #expect((counts.newConnections, counts.reusedConnections, counts.withoutConnection) == (1, 1, 1))
        #expect(counts.firstBytes?.count == 1 && counts.firstBytes?.sum == 1500)
    }

    @Test("times are measured only where they are wanted")
    func times() {
        var counts = EngineCounts()
        counts.took(.seconds(1))
        #expect(counts.durations == nil && !counts.measuresTimes)
    }

    @Test("a time is counted at the first bound that it does not exceed")
    func bounds() {
        var histogram = TimeHistogram()
        for bound in TimeHistogram.bounds { histogram.add(.microseconds(Int64(bound))) }
        #expect(histogram.counts == Array(repeating: 1, count: TimeHistogram.bounds.count) + [0])
        histogram.add(.microseconds(1001))
        #expect(histogram.counts[1] == 2)
        histogram.add(.seconds(Int64.max))
        #expect(histogram.counts.last == 1)
        histogram.add(.seconds(-5))
        #expect(histogram.counts[0] == 2)
        #expect(histogram.count == UInt64(TimeHistogram.bounds.count + 3))
        #expect(TimeHistogram.bounds == TimeHistogram.bounds.sorted())
    }
}
