import Testing
import TrawlFrontier
import TrawlHTTP

@Suite("The addresses that stand for hosts")
struct HostAddressesTests {
    private static func at(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000_000).advanced(by: .seconds(seconds))
    }

    @Test("a name keeps its host while that is met, and is looked up once more when it is not")
    func moving() {
        var addresses = HostAddresses(lifetime: .seconds(100))
        #expect(addresses.address(of: "a.test") == nil && !addresses.isKnown("a.test", at: Self.at(0)))
        addresses.note("a.test", at: ["192.0.2.1"], now: Self.at(0))
        addresses.note("b.test", at: ["192.0.2.2"], now: Self.at(40))
        // It is another host's, and so says nothing of this one.
        addresses.note("a.test", at: ["192.0.2.2"], now: Self.at(50))
        #expect(addresses.address(of: "a.test") == "192.0.2.1" && addresses.isKnown("a.test", at: Self.at(99)))
        addresses.note("a.test", at: ["192.0.2.1"], now: Self.at(90))
        #expect(addresses.isKnown("a.test", at: Self.at(189)))
        #expect(!addresses.isKnown("a.test", at: Self.at(190)))
        // What is asked about a host that nobody has met for long is still answered.
        #expect(addresses.address(of: "a.test") == "192.0.2.1")
        addresses.note("a.test", at: ["192.0.2.2"], now: Self.at(190))
        #expect(addresses.address(of: "a.test") == "192.0.2.2" && addresses.isKnown("a.test", at: Self.at(190)))
    }

    @Test("all addresses of a name are one host, and so are names that share one")
    func several() {
        var addresses = HostAddresses()
        addresses.note("127.0.0.1", at: ["127.0.0.1"], now: Self.at(0))
        addresses.note("localhost", at: ["::1", "127.0.0.1"], now: Self.at(1))
        addresses.note("a.test", at: ["192.0.2.1", "2001:db8::1"], now: Self.at(2))
        addresses.note("b.test", at: ["192.0.2.9", "2001:db8::1"], now: Self.at(3))
        // A connection went where the name was not known to be.
        addresses.note("a.test", at: ["192.0.2.77"], now: Self.at(4))
        for (host, address) in [
            ("localhost", "127.0.0.1"), ("[::1]", "127.0.0.1"), ("b.test", "192.0.2.1"), ("192.0.2.9", "192.0.2.1"),
            ("[2001:db8::1]", "192.0.2.1"), ("192.0.2.77", "192.0.2.1"), ("192.0.2.5", "192.0.2.5"),
        ] {
            #expect(addresses.address(of: host) == address, "\(host)")
        }
    }

    @Test("names of this machine itself")
    func loopback() {
        for (name, isLoopback) in [
            ("localhost", true), ("a.localhost", true), ("notlocalhost", false), ("localhost.test", false), ("", false),
        ] {
            #expect(HostAddresses.isLoopback(name) == isLoopback, "\(name)")
        }
    }

    @Test("what is no address changes nothing, and memory is bounded")
    func bounds() {
        var addresses = HostAddresses(capacity: 10)
        addresses.note("a.test", at: [], now: Self.at(0))
        addresses.note("a.test", at: ["", String(repeating: "1", count: 65)], now: Self.at(0))
        #expect(addresses.count == 0)
        for number in 0..<100 {
            addresses.note("h\(number)", at: ["192.0.2.1"], now: Self.at(number))
            #expect(addresses.count <= 10)
        }
        #expect(addresses.address(of: "h99") == "192.0.2.1" && addresses.address(of: "h97") == "192.0.2.1")
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
