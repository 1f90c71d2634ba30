import Testing

@testable import Trawl

@Suite("Ways to the rest of the world")
struct NetworkPathTests {
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
