/// Where connections go instead of where the URL says: one list for CURLOPT_CONNECT_TO.
///
/// Entries that replace name resolution become routes too. CURLOPT_RESOLVE would put them into the DNS cache that all
/// profiles of a worker share; a route belongs to its transfer alone and keeps connections apart.
package struct ConnectRoutes: Sendable {
    /// The routes, `host:port:host:port` each.
    package let entries: [String]

    /// The routes of a profile: where a route leads to a place whose name has an address, they lead to that address.
    ///
    /// - Parameters:
    ///   - resolve: As for `addresses(_:)`.
    ///   - connectTo: `host:port:host:port`.
    package init(resolve: [String], connectTo: [String]) {
        let addresses = Self.addresses(resolve)
        entries = connectTo.flatMap { Self.resolved($0, by: addresses) } + addresses.map { "\($0.from):\($0.to)" }
    }

    /// The address of a name at a port.
    package struct Address: Sendable, Hashable {
        /// Lower case; empty for all names.
        package let host: String
        /// The port of the URL.
        package let port: UInt16
        /// An IPv6 address has its brackets.
        package let address: String

        /// `host:port`.
        package var from: String { "\(host):\(port)" }
        /// `address:port`.
        package var to: String { "\(address):\(port)" }
    }

    /// What entries of CURLOPT_RESOLVE leave behind: of those for a name and port the last one counts, names go before
    /// `*`.
    ///
    /// - Parameter resolve: `host:port:address[,address]`, of which the first address is used, or `-host:port`, which
    ///   takes earlier ones back.
    /// - Source: curl 7.88 `Curl_loadhostpairs`; CURLOPT_RESOLVE(3).
    package static func addresses(_ resolve: [String]) -> [Address] {
        var decided: Set<String> = []
        var addresses: [Address] = []
        for entry in resolve.reversed() {
            guard let (host, port, address) = parts(entry), decided.insert("\(host):\(port)").inserted,
                !address.isEmpty
            else { continue }
            addresses.append(Address(host: host, port: port, address: address))
        }
        addresses.reverse()
        return addresses.filter { !$0.host.isEmpty } + addresses.filter { $0.host.isEmpty }
    }

    /// A route, or those that take its place where names have addresses: libcurl looks for an address only once it
    /// knows where it connects to.
    private static func resolved(_ route: String, by addresses: [Address]) -> [String] {
        let (from, to) = halves(route.lowercased())
        let (fromHost, fromPort) = hostAndRest(from[...])
        let (toHost, toPort) = hostAndRest(to[...])
        if toHost.isEmpty, toPort.isEmpty { return [route] }
        var entries: [String] = []
        for known in addresses {
            // What a route leaves out is the URL's, which has to fit the address then.
            let host = String(toHost.isEmpty ? fromHost : toHost)
            let port = String(toPort.isEmpty ? fromPort : toPort)
            guard host.isEmpty || known.host.isEmpty || host == known.host,
                port.isEmpty || port == String(known.port)
            else { continue }
            let placeHost = toHost.isEmpty && !known.host.isEmpty ? known.host : String(fromHost)
            let placePort = toPort.isEmpty ? String(known.port) : String(fromPort)
            entries.append("\(placeHost):\(placePort):\(known.to)")
            // Nothing is left for the route itself.
            if "\(placeHost):\(placePort)" == from { return entries }
        }
        return entries + [route]
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

    /// The parts of an entry of CURLOPT_RESOLVE, the first of its addresses; of one that takes others back it is empty.
    /// Nil where it is none.
    private static func parts(_ entry: String) -> (host: String, port: UInt16, address: String)? {
        let isRemoval = entry.hasPrefix("-")
        let (host, rest) = hostAndRest(isRemoval || entry.hasPrefix("+") ? entry.dropFirst() : entry[...])
        let digits = rest.prefix { $0 != ":" }
        guard !host.isEmpty, isPort(digits), let port = UInt16(digits) else { return nil }
        var address: Substring = isRemoval ? "" : rest.dropFirst(digits.count + 1).prefix { $0 != "," }
        guard isRemoval || !address.isEmpty else { return nil }
        if address.contains(":"), !address.hasPrefix("[") { address = "[\(address)]" }
        return (host == "*" ? "" : host.lowercased(), port, String(address))
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
