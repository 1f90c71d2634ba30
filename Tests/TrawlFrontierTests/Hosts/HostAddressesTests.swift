import Testing
import TrawlFrontier
import TrawlHTTP

@Suite("The addresses that stand for hosts")
struct HostAddressesTests {
    private static func at(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000_000).advanced(by: .seconds(seconds))
    }

    @Test("a host keeps its first address while that is met, and moves when it is not")
    func first() {
        var addresses = HostAddresses(lifetime: .seconds(100))
        #expect(addresses.address(of: "a.test") == nil)
        addresses.note("a.test", at: "192.0.2.1", now: Self.at(0))
        addresses.note("a.test", at: "192.0.2.2", now: Self.at(50))
        #expect(addresses.address(of: "a.test") == "192.0.2.1")
        addresses.note("a.test", at: "192.0.2.1", now: Self.at(90))
        addresses.note("a.test", at: "192.0.2.2", now: Self.at(150))
        #expect(addresses.address(of: "a.test") == "192.0.2.1")
        addresses.note("a.test", at: "192.0.2.2", now: Self.at(190))
        #expect(addresses.address(of: "a.test") == "192.0.2.2")
        #expect(addresses.address(of: "b.test") == nil)
    }

    @Test("what is no address changes nothing, and memory is bounded")
    func bounds() {
        var addresses = HostAddresses(capacity: 10)
        addresses.note("a.test", at: "", now: Self.at(0))
        addresses.note("a.test", at: String(repeating: "1", count: 65), now: Self.at(0))
        #expect(addresses.count == 0)
        for number in 0..<100 {
            addresses.note("h\(number)", at: "192.0.2.1", now: Self.at(number))
            #expect(addresses.count <= 10)
        }
        #expect(addresses.address(of: "h99") == "192.0.2.1" && addresses.address(of: "h95") == "192.0.2.1")
        #expect(addresses.address(of: "h0") == nil)
    }

    @Test("hosts that are addresses stand for themselves")
    func literals() {
        let addresses = HostAddresses()
        #expect(addresses.address(of: "127.0.0.1") == "127.0.0.1")
        #expect(addresses.address(of: "[2001:db8::1]") == "2001:db8::1")
        for name in ["127.1", "1.2.3.400", "1.2.3.4.5", "1.2.3.", "a.1.2.3", "", "..."] {
            #expect(HostAddresses.literal(name) == nil, "\(name)")
        }
    }
}
