package import TrawlHTTP

/// The addresses at which hosts were found, for politeness by address.
///
/// A host that is found at several addresses in turn keeps the first, so that its requests stay in one queue. Another
/// takes its place when the first was not met for a while: the host has moved. Memory is bounded: hosts that were not
/// met lately are forgotten when there are too many.
package struct HostAddresses: Sendable {
    private struct Entry {
        var address: String
        var seenAt: MonotonicInstant
    }

    /// The longest text of an address, with a zone behind it.
    private static let longestAddress = 64

    private let lifetime: Duration
    private let capacity: Int
    private var recent: [String: Entry] = [:]
    private var older: [String: Entry] = [:]

    /// Of no host an address is known.
    ///
    /// - Parameters:
    ///   - lifetime: How long an address that is not met stands against another.
    ///   - capacity: How many hosts are remembered at most, at least 2.
    package init(lifetime: Duration = .seconds(600), capacity: Int = 65_536) {
        self.lifetime = lifetime
        self.capacity = max(2, capacity)
    }

    /// How many hosts have an address.
    package var count: Int { recent.count + older.keys.count { recent[$0] == nil } }

    /// A host was found at an address. What is no address is passed over.
    ///
    /// - Parameter host: In lower case, as in a URL.
    package mutating func note(_ host: String, at address: String, now: MonotonicInstant) {
        guard (1...Self.longestAddress).contains(address.utf8.count) else { return }
        if let known = recent[host] ?? older[host], known.address != address,
            known.seenAt.duration(to: now) < lifetime
        {
            return
        }
        if recent[host] == nil, recent.count >= capacity / 2 {
            older = recent
            recent = [:]
        }
        recent[host] = Entry(address: address, seenAt: now)
    }

    /// The address that stands for a host; nil when none is known.
    ///
    /// - Parameter host: In lower case, as in a URL; one that is an address stands for itself.
    package func address(of host: String) -> String? {
        Self.literal(host) ?? (recent[host] ?? older[host])?.address
    }

    /// The address that a host of a URL is, without the brackets of IPv6; nil for a name.
    ///
    /// - Source: RFC 3986 §3.2.2, in the normal form that URLs are brought to before.
    package static func literal(_ host: String) -> String? {
        let bytes = host.utf8
        if bytes.first == UInt8(ascii: "[") { return String(host.dropFirst().dropLast()) }
        guard bytes.allSatisfy({ $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }) else { return nil }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy({ UInt8($0) != nil }) ? host : nil
    }
}
