import CTrawlPlatform
import Glibc

/// The kernel's tables of routes and interfaces: where packets to the rest of the world would go, and when that
/// changes.
///
/// Nothing is sent. A route is what the kernel would choose, by all its rules and tables, for an address outside: a
/// default route, or two halves of one that a tunnel has put in front of it. Bound to one thread.
package final class RouteTable {
    /// A way out, of one address family.
    package struct Way: Sendable, Hashable {
        /// The interface packets leave by.
        package let interface: String
    }

    /// The ways out.
    package struct Ways: Sendable, Hashable {
        /// That of IPv4; nil when there is none.
        package let ipv4: Way?
        /// That of IPv6; nil when there is none.
        package let ipv6: Way?
    }

    /// Addresses outside, asked about and never sent to: a root server of the DNS, which nobody routes apart.
    private static let ipv4Address: [UInt8] = [198, 41, 0, 4]
    private static let ipv6Address: [UInt8] = [
        0x20, 0x01, 0x05, 0x03, 0xba, 0x3e, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0x30,
    ]
    /// Links, routes, addresses and rules of both families: RTMGRP_LINK, _IPV4_IFADDR, _IPV4_ROUTE, _IPV4_RULE,
    /// _IPV6_IFADDR and _IPV6_ROUTE.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x80 | 0x100 | 0x400
    private static let longestAnswer: Int32 = 1000

    private let changes: Descriptor
    private let questions: Descriptor
    private var buffer = [UInt8](repeating: 0, count: 32 << 10)

    /// Asks for news from now on.
    ///
    /// - Throws: Where the system has no such sockets, or keeps them from this process.
    package init() throws(SystemError) {
        changes = try Descriptor.adopt(cplatform_route_socket(Self.groups), "socket")
        questions = try Descriptor.adopt(cplatform_route_socket(0), "socket")
    }

    /// For a poller; readable when something may have changed.
    package var rawValue: Int32 { changes.rawValue }

    /// Takes what is told, whatever it is: what it came to is asked for.
    package func drain() {
        var isOver = false
        // What was lost is news as well.
        while !isOver {
            let result = receive(from: changes.rawValue, within: 0)
            isOver = result < 0 && result != -Int64(ENOBUFS)
        }
    }

    /// The ways there are now.
    ///
    /// - Throws: When the kernel does not answer.
    package func ways() throws(SystemError) -> Ways {
        Ways(
            ipv4: try way(UInt8(AF_INET), Self.ipv4Address),
            ipv6: try way(UInt8(AF_INET6), Self.ipv6Address))
    }

    private func way(_ family: UInt8, _ address: [UInt8]) throws(SystemError) -> Way? {
        let route = try ask(RouteMessage.question(family: family, address: address))
        guard case .route(let index, isUnicast: true) = route else { return nil }
        guard case .link(let link) = try ask(RouteMessage.question(link: index)), link.isRunning, !link.isLoopback
        else { return nil }
        return Way(interface: link.name)
    }

    /// The first answer to a question. The kernel has it ready when the question is sent.
    private func ask(_ question: [UInt8]) throws(SystemError) -> RouteMessage {
        let fd = questions.rawValue
        // What is left of an answer that came too late.
        while receive(from: fd, within: 0) >= 0 {}
        let sent = question.withUnsafeBytes { cplatform_send(fd, $0.baseAddress, $0.count) }
        _ = try check(sent, "send")
        let count = try check(receive(from: fd, within: Self.longestAnswer), "recvfrom")
        return RouteMessage.messages(in: Array(buffer.prefix(count))).first { $0 != .other } ?? .other
    }

    private func receive(from fd: Int32, within milliseconds: Int32) -> Int64 {
        buffer.withUnsafeMutableBytes { buffer in
            var result: Int64
            repeat {
                result = cplatform_route_receive(fd, buffer.baseAddress, buffer.count, milliseconds)
            } while result == -Int64(EINTR)
            return result
        }
    }
}
