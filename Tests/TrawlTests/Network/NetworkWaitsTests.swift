import Testing
import TrawlHTTP

@testable import Trawl

@Suite("Fetches that wait for the network")
struct NetworkWaitsTests {
    private static func key(_ place: Int) -> FetchKey { FetchKey(use: 1, place: place) }
    private static func at(_ seconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    @Test("those with a limit expire in its order, the others when they are taken")
    func limits() {
        var waits = NetworkWaits()
        waits.insert(Self.key(3), until: nil)
        waits.insert(Self.key(1), until: Self.at(20))
        waits.insert(Self.key(2), until: Self.at(10))
        waits.insert(Self.key(4), until: Self.at(30))
        #expect(waits.earliest == Self.at(10))
        #expect(waits.nextExpired(at: Self.at(9)) == nil)
        #expect(waits.nextExpired(at: Self.at(25)) == Self.key(2))
        #expect(waits.nextExpired(at: Self.at(25)) == Self.key(1))
        #expect(waits.nextExpired(at: Self.at(25)) == nil)
        #expect(waits.removeAll() == [Self.key(3), Self.key(4)])
        #expect(waits.isEmpty && waits.earliest == nil)
    }

    @Test("a limit of an earlier wait, and of a fetch that has ended, counts no more")
    func stale() {
        var waits = NetworkWaits()
        waits.insert(Self.key(1), until: Self.at(10))
        waits.insert(Self.key(2), until: Self.at(10))
        waits.remove(Self.key(1))
        waits.remove(Self.key(2))
        waits.insert(Self.key(1), until: Self.at(40))
        #expect(waits.nextExpired(at: Self.at(20)) == nil)
        #expect(waits.nextExpired(at: Self.at(40)) == Self.key(1))
        #expect(waits.isEmpty)
    }

    @Test("entries of waits that are over do not pile up")
    func compacted() {
        var waits = NetworkWaits()
        for place in 0..<5000 {
            waits.insert(Self.key(place), until: Self.at(1000))
            waits.remove(Self.key(place))
        }
        waits.insert(Self.key(5000), until: Self.at(2000))
        waits.compact()
        #expect(waits.earliest == Self.at(2000) && waits.count == 1)
    }

    @Test("time for which a fetch is suspended does not count as waiting")
    func suspended() {
        let wait = NetworkWait(limit: .seconds(10))
        #expect(wait.end == nil)
        wait.since = Self.at(100)
        #expect(wait.end == Self.at(110))
        // Suspended from 104 to 150.
        wait.giveBack(.seconds(46), at: Self.at(150))
        #expect(wait.end == Self.at(156))
        wait.ended(at: Self.at(152))
        #expect(wait.waited == .seconds(6) && wait.left == .seconds(4) && wait.returnedAt == Self.at(152))
        #expect(wait.isSettling(at: Self.at(152)) && wait.isSettling(at: Self.at(161)))
        #expect(!wait.isSettling(at: Self.at(162)))
        // Suspended from 190 on, and waiting from 200 on, until 210.
        wait.since = Self.at(200)
        wait.giveBack(.seconds(20), at: Self.at(210))
        #expect(wait.end == Self.at(214))
        let endless = NetworkWait(limit: nil)
        endless.since = Self.at(1)
        #expect(endless.end == nil && !endless.isSettling(at: Self.at(2)))
    }
}
