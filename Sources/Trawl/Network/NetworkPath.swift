/// Which way this machine reaches the rest of the world.
public struct NetworkPath: Sendable, Hashable {
    /// What kind of network it is.
    public enum Status: String, Sendable, Hashable, Codable {
        /// Not known: the system does not say it.
        case unknown
        /// There is no way out: no default route, or its interface is down; or a probe found that it leads nowhere.
        case none
        /// Bytes cost money there: a mobile network.
        case metered
        /// Any other.
        case unmetered
    }

    /// What kind of network it is.
    public let status: Status
    /// The interface of the default route of IPv4; nil when there is none.
    public let ipv4Interface: String?
    /// The interface of the default route of IPv6; nil when there is none.
    public let ipv6Interface: String?

    /// Nothing known.
    static let unknown = NetworkPath(status: .unknown, ipv4Interface: nil, ipv6Interface: nil)

    init(status: Status, ipv4Interface: String?, ipv6Interface: String?) {
        self.status = status
        self.ipv4Interface = ipv4Interface
        self.ipv6Interface = ipv6Interface
    }

    /// The path through these interfaces. It is metered when one of them is.
    ///
    /// - Parameter meteredInterfaces: Names; one that ends with `*` is the beginning of a name.
    init(ipv4Interface: String?, ipv6Interface: String?, meteredInterfaces: [String]) {
        let interfaces = [ipv4Interface, ipv6Interface].compactMap { $0 }
        let isMetered = interfaces.contains { interface in
            meteredInterfaces.contains { rule in
                rule.hasSuffix("*") ? interface.hasPrefix(rule.dropLast()) : interface == rule
            }
        }
        self.init(
            status: interfaces.isEmpty ? .none : isMetered ? .metered : .unmetered, ipv4Interface: ipv4Interface,
            ipv6Interface: ipv6Interface)
    }

    /// The same way, which leads nowhere.
    var leadingNowhere: NetworkPath {
        NetworkPath(status: .none, ipv4Interface: ipv4Interface, ipv6Interface: ipv6Interface)
    }
}
