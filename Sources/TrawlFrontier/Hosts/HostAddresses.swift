package import TrawlHTTP

/// The addresses at which hosts are found, for politeness by address.
///
/// All addresses of one name are one host, named by the first of them: a connection may go to any. A name of which one
/// address is another host's already belongs to that one, so that whatever its requests connect to is in one queue.
/// What was not met for a while is forgotten, and so is what was not met lately when there is too much: memory is
/// bounded.
package struct HostAddresses: Sendable {
    private struct Entry {
        /// The address that names the host.
        var address: String
        var seenAt: MonotonicInstant
    }

    /// The longest text of an address, with a zone behind it.
    private static let longestAddress = 64
    /// The addresses of this machine itself.
    ///
    /// - Source: RFC 6761 §6.3.
    package static let loopback = ["127.0.0.1", "::1"]

    private let lifetime: Duration
    private let capacity: Int
    /// By name or address: neither can be taken for the other.
    private var recent: [String: Entry] = [:]
    private var older: [String: Entry] = [:]

    /// Of no host an address is known.
    ///
    /// - Parameters:
    ///   - lifetime: How long what is not met is believed.
    ///   - capacity: How many names and addresses are remembered at most, at least 2.
    package init(lifetime: Duration = .seconds(600), capacity: Int = 65_536) {
        self.lifetime = lifetime
        self.capacity = max(2, capacity)
    }

    /// How many names and addresses are remembered.
    package var count: Int { recent.count + older.keys.count { recent[$0] == nil } }

    /// A host was found at addresses, by looking its name up or by a connection. What is no address is passed over.
    ///
    /// - Parameter host: In lower case, as in a URL.
    package mutating func note(_ host: String, at addresses: [String], now: MonotonicInstant) {
        let key = Self.literal(host) ?? host
        let addresses = addresses.filter { (1...Self.longestAddress).contains($0.utf8.count) }
        guard let first = addresses.first else { return }
        let known = believed(key, now)
        let named = known ?? addresses.compactMap { believed($0, now) }.first ?? first
        // Those of other hosts stay there.
        let own = addresses.filter { believed($0, now) ?? named == named }
        // It has moved: not met any more, it is forgotten there.
        guard known == nil || !own.isEmpty else { return }
        for address in own where address != key { keep(address, at: named, now) }
        keep(key, at: named, now)
    }

    private mutating func keep(_ key: String, at address: String, _ now: MonotonicInstant) {
        if recent[key] == nil, recent.count >= capacity / 2 {
            older = recent
            recent = [:]
        }
        recent[key] = Entry(address: address, seenAt: now)
    }

    private func believed(_ key: String, _ now: MonotonicInstant) -> String? {
        guard let entry = recent[key] ?? older[key], entry.seenAt.duration(to: now) < lifetime else { return nil }
        return entry.address
    }

    /// Whether it is known which host a name or an address is; one that was not met for a while has to be looked up
    /// once more.
    ///
    /// - Parameter host: In lower case, as in a URL.
    package func isKnown(_ host: String, at now: MonotonicInstant) -> Bool {
        believed(Self.literal(host) ?? host, now) != nil
    }

    /// The address that stands for a host, as far as known last; nil when none is known.
    ///
    /// - Parameter host: In lower case, as in a URL; one that is an address stands for itself, unless it was found to
    ///   belong to another.
    package func address(of host: String) -> String? {
        let literal = Self.literal(host)
        let key = literal ?? host
        return (recent[key] ?? older[key])?.address ?? literal
    }

    /// Whether a name is this machine's own: it is not looked up, and libcurl does not do so either.
    ///
    /// - Source: RFC 6761 §6.3.
    package static func isLoopback(_ name: String) -> Bool {
        name == "localhost" || name.hasSuffix(".localhost")
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
