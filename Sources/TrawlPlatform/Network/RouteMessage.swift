/// A question to the kernel's tables of links and routes, or a part of its answer: the bytes of rtnetlink(7).
///
/// Integers are in the machine's order. Only what says where packets to an address would go is read.
enum RouteMessage: Equatable, Sendable {
    /// Packets go out through the interface of this index; false for addresses that the table refuses or keeps here.
    case route(interface: Int32, isUnicast: Bool)
    /// An interface.
    case link(Link)
    /// A question could not be answered: an `errno`.
    case failure(Int32)
    /// Something else.
    case other

    /// What is known of an interface.
    struct Link: Equatable, Sendable {
        let index: Int32
        let name: String
        /// Whether it is switched on and has a carrier.
        let isRunning: Bool
        let isLoopback: Bool
    }

    /// linux/rtnetlink.h, linux/netlink.h
    private enum Kind {
        static let error: UInt16 = 2
        static let newLink: UInt16 = 16
        static let getLink: UInt16 = 18
        static let newRoute: UInt16 = 24
        static let getRoute: UInt16 = 26
    }

    /// linux/if.h
    private enum LinkFlag {
        static let up: UInt32 = 0x1
        static let loopback: UInt32 = 0x8
        static let running: UInt32 = 0x40
    }

    private static let headerLength = 16
    private static let requestFlag: UInt16 = 1
    /// RTA_DST and RTA_OIF of rtmsg, IFLA_IFNAME of ifinfomsg.
    private static let destination: UInt16 = 1
    private static let outgoing: UInt16 = 4
    private static let interfaceName: UInt16 = 3
    private static let unicast: UInt8 = 1

    /// Asks which way a packet to an address would take.
    ///
    /// - Parameters:
    ///   - family: AF_INET or AF_INET6.
    ///   - address: 4 or 16 bytes.
    static func question(family: UInt8, address: [UInt8]) -> [UInt8] {
        var body: [UInt8] = [family, UInt8(address.count * 8), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        body += bytes(of: UInt16(4 + address.count)) + bytes(of: destination) + address
        return message(Kind.getRoute, body)
    }

    /// Asks about an interface.
    static func question(link index: Int32) -> [UInt8] {
        message(Kind.getLink, [0, 0, 0, 0] + bytes(of: UInt32(bitPattern: index)) + [0, 0, 0, 0, 0, 0, 0, 0])
    }

    /// The messages of a datagram, up to the first that makes no sense.
    static func messages(in datagram: [UInt8]) -> [RouteMessage] {
        var found: [RouteMessage] = []
        var rest = datagram[...]
        while rest.count >= headerLength {
            let length = Int(integer(rest, at: 0, as: UInt32.self))
            guard length >= headerLength, length <= rest.count else { break }
            let body = rest.dropFirst(headerLength).prefix(length - headerLength)
            found.append(read(integer(rest, at: 4, as: UInt16.self), body))
            rest = rest.dropFirst(padded(length))
        }
        return found
    }

    private static func read(_ kind: UInt16, _ body: ArraySlice<UInt8>) -> RouteMessage {
        switch kind {
        case Kind.error where body.count >= 4:
            let error = integer(body, at: 0, as: Int32.self)
            return error == 0 ? .other : .failure(error == .min ? .max : -error)
        case Kind.newRoute where body.count >= 12:
            guard let value = attribute(outgoing, of: body.dropFirst(12)), value.count == 4 else { return .other }
            return .route(
                interface: integer(value, at: 0, as: Int32.self), isUnicast: body[body.startIndex + 7] == unicast)
        case Kind.newLink where body.count >= 16:
            guard let name = attribute(interfaceName, of: body.dropFirst(16)) else { return .other }
            let flags = integer(body, at: 8, as: UInt32.self)
            return .link(
                Link(
                    index: integer(body, at: 4, as: Int32.self),
                    name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self),
                    isRunning: flags & LinkFlag.up != 0 && flags & LinkFlag.running != 0,
                    isLoopback: flags & LinkFlag.loopback != 0))
        default: return .other
        }
    }

    private static func attribute(_ kind: UInt16, of attributes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = attributes
        while rest.count >= 4 {
            let length = Int(integer(rest, at: 0, as: UInt16.self))
            guard length >= 4, length <= rest.count else { return nil }
            // The two highest bits are flags.
            if integer(rest, at: 2, as: UInt16.self) & 0x3FFF == kind { return rest.dropFirst(4).prefix(length - 4) }
            rest = rest.dropFirst(padded(length))
        }
        return nil
    }

    private static func message(_ kind: UInt16, _ body: [UInt8]) -> [UInt8] {
        let length = UInt32(headerLength + body.count)
        return bytes(of: length) + bytes(of: kind) + bytes(of: requestFlag) + [UInt8](repeating: 0, count: 8) + body
    }

    /// Messages and attributes begin at multiples of four.
    private static func padded(_ length: Int) -> Int { (length + 3) & ~3 }

    private static func bytes<Value: FixedWidthInteger>(of value: Value) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    private static func integer<Value: FixedWidthInteger>(
        _ bytes: ArraySlice<UInt8>, at offset: Int, as: Value.Type
    ) -> Value {
        var value: Value = 0
        withUnsafeMutableBytes(of: &value) { value in
            for place in value.indices { value[place] = bytes[bytes.startIndex + offset + place] }
        }
        return value
    }
}
