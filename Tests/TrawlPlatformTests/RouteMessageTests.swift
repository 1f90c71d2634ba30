import Glibc
import Testing

@testable import TrawlPlatform

@Suite("Messages of rtnetlink")
struct RouteMessageTests {
    /// An answer to a question about a route, as a kernel gave it: out through interface 3.
    private static let route: [UInt8] = [
        52, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0,
        2, 32, 0, 0, 254, 0, 0, 1, 0, 2, 0, 0,
        8, 0, 15, 0, 254, 0, 0, 0, 8, 0, 1, 0, 198, 41, 0, 4, 8, 0, 4, 0, 3, 0, 0, 0,
    ]
    /// An interface `eth0` of index 3, up and running.
    private static let link: [UInt8] = [
        44, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0,
        0, 0, 1, 0, 3, 0, 0, 0, 0x43, 0x10, 1, 0, 0, 0, 0, 0,
        9, 0, 3, 0, 0x65, 0x74, 0x68, 0x30, 0, 0, 0, 0,
    ]
    private static let refusal: [UInt8] = [
        36, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0x9B, 0xFF, 0xFF, 0xFF,
        28, 0, 0, 0, 26, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]

    @Test("routes, interfaces and refusals are read")
    func reading() {
        #expect(RouteMessage.messages(in: Self.route) == [.route(interface: 3, isUnicast: true)])
        let eth0 = RouteMessage.Link(index: 3, name: "eth0", isRunning: true, isLoopback: false)
        #expect(RouteMessage.messages(in: Self.link) == [.link(eth0)])
        #expect(RouteMessage.messages(in: Self.refusal) == [.failure(ENETUNREACH)])
        #expect(RouteMessage.messages(in: Self.refusal + Self.route).count == 2)
        var down = Self.link
        down[24] = 0x03
        let stopped = RouteMessage.Link(index: 3, name: "eth0", isRunning: false, isLoopback: false)
        #expect(RouteMessage.messages(in: down) == [.link(stopped)])
    }

    @Test("what is cut off or says lengths that are not there is passed over")
    func damage() {
        for message in [Self.route, Self.link, Self.refusal] {
            for length in message.indices {
                #expect(RouteMessage.messages(in: Array(message[..<length])).isEmpty)
            }
            for place in message.indices {
                for value in [UInt8(0), 1, 3, 0x7F, 0xFF] {
                    var damaged = message
                    damaged[place] = value
                    #expect(RouteMessage.messages(in: damaged).count <= 2)
                }
            }
        }
    }

    @Test("the kernel understands the questions")
    func questions() throws {
        #expect(RouteMessage.question(family: UInt8(AF_INET), address: [198, 41, 0, 4]).count == 36)
        #expect(RouteMessage.question(link: 1).count == 32)
        let table = try RouteTable()
        // Whatever the ways are, asking twice gives the same.
        let ways = try table.ways()
        #expect(try table.ways() == ways)
        table.drain()
    }
}
