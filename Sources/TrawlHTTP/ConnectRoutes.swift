/// Where connections go instead of where the URL says: one list for CURLOPT_CONNECT_TO.
///
/// Entries that replace name resolution become routes too. CURLOPT_RESOLVE would put them into the DNS cache that all
/// profiles of a worker share; a route belongs to its transfer alone and keeps connections apart.
package struct ConnectRoutes: Sendable {
    /// The routes, `host:port:host:port` each.
    package let entries: [String]

    /// The routes of a profile.
    ///
    /// - Parameters:
    ///   - resolve: `host:port:address[,address]`; the first address is used. An entry that starts with `-` says nothing.
    ///   - connectTo: `host:port:host:port`.
    package init(resolve: [String], connectTo: [String]) {
        let addresses = resolve.compactMap(Self.address)
        var entries: [String] = []
        for route in connectTo {
            let (from, to) = Self.halves(route)
            let known = addresses.first { $0.from == to }
            entries.append(known.map { "\(from):\($0.to)" } ?? route)
        }
        entries += addresses.map { "\($0.from):\($0.to)" }
        self.entries = entries
    }

    /// Whether an entry of `resolve` is one: with a port of 1 to 65535 and addresses; after `-` anything goes.
    package static func isResolve(_ entry: String) -> Bool {
        if entry.hasPrefix("-") { return true }
        let (host, rest) = hostAndRest(entry.hasPrefix("+") ? entry.dropFirst() : entry[...])
        guard !host.isEmpty, let colon = rest.firstIndex(of: ":"), isPort(rest[..<colon]) else { return false }
        let addresses = rest[rest.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false)
        return addresses.allSatisfy { text in
            var address = text
            if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
            // With its zone.
            return IPAddress(address.prefix { $0 != "%" }) != nil
        }
    }

    /// Whether an entry of `connectTo` is one: `host:port:host:port`, each of which may be left out, with ports of 1 to
    /// 65535.
    package static func isConnectTo(_ entry: String) -> Bool {
        let (from, to) = halves(entry)
        let (host, port) = hostAndRest(to[...])
        // Shorter than the whole when there is a colon.
        guard host.utf8.count < to.utf8.count else { return false }
        let ports = [hostAndRest(from[...]).1, port]
        return ports.allSatisfy { $0.isEmpty || isPort($0) }
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { $0 &- 0x30 < 10 } && Int(text).map { (1...65_535).contains($0) } == true
    }

    /// `host:port` and `address:port` of an entry of CURLOPT_RESOLVE.
    package static func address(_ entry: String) -> (from: String, to: String)? {
        var entry = entry[...]
        if entry.first == "+" { entry = entry.dropFirst() }
        guard entry.first != "-" else { return nil }
        let (host, rest) = hostAndRest(entry)
        guard let colon = rest.firstIndex(of: ":") else { return nil }
        let port = rest[..<colon]
        var address = rest[rest.index(after: colon)...].prefix { $0 != "," }
        guard !address.isEmpty, !port.isEmpty else { return nil }
        if address.contains(":"), !address.hasPrefix("[") { address = "[\(address)]" }
        return ("\(host == "*" ? "" : host):\(port)", "\(address):\(port)")
    }

    /// Where connections for an origin go, `host:port`, as libcurl finds it out: by the first entry that is for that
    /// host and port, either of which may be left out. Nil where that is the origin itself.
    package func place(of origin: Origin) -> String? {
        for entry in entries {
            let (from, to) = Self.halves(entry)
            let (host, rest) = Self.hostAndRest(from[...])
            guard host.isEmpty || FieldSyntax.equalIgnoringCase(String(host), origin.host),
                rest.isEmpty || rest == "\(origin.port)"
            else { continue }
            let (otherHost, otherPort) = Self.hostAndRest(to[...])
            if otherHost.isEmpty, otherPort.isEmpty { continue }
            let place =
                "\(otherHost.isEmpty ? origin.host[...] : otherHost):\(otherPort.isEmpty ? "\(origin.port)" : otherPort)"
            return FieldSyntax.equalIgnoringCase(place, "\(origin.host):\(origin.port)") ? nil : place
        }
        return nil
    }

    /// Cuts `host:port:host:port` in the middle.
    private static func halves(_ entry: String) -> (String, String) {
        let (host, rest) = hostAndRest(entry[...])
        guard let colon = rest.firstIndex(of: ":") else { return (entry, "") }
        return ("\(host):\(rest[..<colon])", String(rest[rest.index(after: colon)...]))
    }

    /// The host, an IPv6 address with its brackets, and what follows its colon.
    private static func hostAndRest(_ text: Substring) -> (Substring, Substring) {
        let from = text.hasPrefix("[") ? text.firstIndex(of: "]") ?? text.startIndex : text.startIndex
        guard let colon = text[from...].firstIndex(of: ":") else { return (text, "") }
        return (text[..<colon], text[text.index(after: colon)...])
    }
}
