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

    @Test(
        "names of interfaces make a network metered",
        arguments: [
            ("wwan0", nil, .metered), ("ppp7", nil, .metered), ("eth0", "wwan0", .metered),
            ("eth0", "eth0", .unmetered),
            (nil, "wlan0", .unmetered), (nil, nil, .none), ("wan", nil, .unmetered), ("usb0", nil, .metered),
        ] as [(String?, String?, NetworkPath.Status)])
    func interfaces(ipv4: String?, ipv6: String?, expected: NetworkPath.Status) {
        let path = NetworkPath(
            ipv4Interface: ipv4, ipv6Interface: ipv6, meteredInterfaces: ["wwan*", "ppp*", "usb0"])
        #expect(path.status == expected)
    }
}
