import Testing
import TrawlProtocol

@testable import Trawl

@Suite("Leases under limits of bandwidth")
struct LimitedHopsTests {
    @Test("a limit is crowded with a lease for each of its places, those of others aside")
    func crowded() {
        var hops = LimitedHops()
        for _ in 0..<3 { hops.granted(under: LimitNumbers(0, 5)) }
        hops.granted(under: LimitNumbers(0, 6))
        #expect(hops.isCrowded(0, places: 4) && !hops.isCrowded(0, places: 5))
        #expect(hops.isCrowded(5, places: 3) && !hops.isCrowded(5, places: 4))
        #expect(hops.isCrowded(6, places: 1) && !hops.isCrowded(7, places: 1))
        hops.ended(under: LimitNumbers(0, 5))
        #expect(!hops.isCrowded(0, places: 4) && !hops.isCrowded(5, places: 3))
        for _ in 0..<2 { hops.ended(under: LimitNumbers(0, 5)) }
        hops.ended(under: .unlimited)
        #expect(hops.isCrowded(0, places: 1) && !hops.isCrowded(5, places: 1))
        hops.ended(under: LimitNumbers(0, 6))
        #expect(!hops.isCrowded(0, places: 1) && !hops.isCrowded(6, places: 1))
    }

    @Test("hops wait for each limit in their order, and leave from wherever they stand")
    func order() {
        var hops = LimitedHops()
        for key in 1...4 as ClosedRange<UInt64> { hops.insert(FetchKey(rawValue: key), 0) }
        hops.insert(FetchKey(rawValue: 9), 1022)
        #expect(hops.count == 5 && hops.awaited.sorted() == [0, 1022])
        hops.remove(FetchKey(rawValue: 2), 0)
        hops.remove(FetchKey(rawValue: 2), 0)
        let first = hops.next(0)
        #expect(first == FetchKey(rawValue: 1))
        hops.insert(FetchKey(rawValue: 1), 0, front: true)
        var left: [UInt64] = []
        while let key = hops.next(0) { left.append(key.rawValue) }
        #expect(left == [1, 3, 4] && hops.count == 1 && hops.awaited == [1022])
        let last = hops.next(1022)
        #expect(last == FetchKey(rawValue: 9) && hops.count == 0 && hops.awaited.isEmpty)
    }
}
