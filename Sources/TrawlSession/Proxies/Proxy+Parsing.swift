import TrawlHTTP

extension Proxy {
    /// Reads `[scheme://][user[:password]@]host[:port][/…]`, as curl reads the argument of `-x`.
    ///
    /// Without a scheme it is an HTTP proxy; without a port it is 1080, or 443 for `https`. User and password are
    /// percent-decoded. What follows the authority is ignored.
    package init(_ text: some StringProtocol) throws(ProxyFault) {
        var rest = Array(text.utf8)[...]
        while rest.first == 0x20 { rest = rest.dropFirst() }
        while rest.last == 0x20 { rest = rest.dropLast() }
        var kind = ProxyKind.http
        if let mark = Self.schemeEnd(rest) {
            let scheme = String(decoding: rest[..<mark], as: UTF8.self).lowercased()
            guard let named = ProxyKind(scheme: scheme) else { throw .scheme }
            kind = named
            rest = rest[(mark + 3)...]
        }
        rest = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        var credentials: Credentials?
        // A password may hold an at sign: the last one ends it.
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            credentials = try Self.credentials(rest[..<at])
            rest = rest[(at + 1)...]
        }
        let (host, port) = try Self.hostAndPort(rest)
        self.init(kind, host: host, port: port ?? kind.defaultPort, credentials: credentials)
    }

    /// Where `://` begins, behind what may be a scheme (RFC 3986 §3.1).
    private static func schemeEnd(_ text: ArraySlice<UInt8>) -> Int? {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text[colon...].starts(with: "://".utf8) else {
            return nil
        }
        return colon
    }

    /// User and password of a proxy's user information, percent-decoded (RFC 3986 §2.1, §3.2.1).
    static func credentials(_ text: ArraySlice<UInt8>) throws(ProxyFault) -> Credentials? {
        let user = text.prefix { $0 != UInt8(ascii: ":") }
        let password = user.endIndex < text.endIndex ? text[(user.endIndex + 1)...] : []
        guard !user.isEmpty || !password.isEmpty else { return nil }
        return Credentials(user: try decoded(user), password: try decoded(password))
    }

    private static func decoded(_ text: ArraySlice<UInt8>) throws(ProxyFault) -> String {
        guard let bytes = PercentEncoding.strictlyDecoded(text),
            !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }), let decoded = String(validating: bytes, as: UTF8.self)
        else { throw .userInformation }
        return decoded
    }

    /// `host[:port]`; an IPv6 address stands in brackets, with its zone or without (RFC 6874 §2).
    static func hostAndPort(_ text: ArraySlice<UInt8>) throws(ProxyFault) -> (host: String, port: UInt16?) {
        var host = text
        var port: ArraySlice<UInt8>?
        if text.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
            host = text[...end]
            let zone = host.drop { $0 != UInt8(ascii: "%") }.dropFirst().dropLast()
            guard IPAddress(host: String(decoding: host, as: UTF8.self)) != nil, zone.allSatisfy(isHostByte) else {
                throw .host
            }
            let behind = text[(end + 1)...]
            guard behind.isEmpty || behind.first == UInt8(ascii: ":") else { throw .host }
            if !behind.isEmpty { port = behind.dropFirst() }
        } else {
            if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
                host = text[..<colon]
                port = text[(colon + 1)...]
            }
            guard !host.isEmpty, host.count <= 255, host.allSatisfy(isHostByte) else { throw .host }
        }
        // Names of interfaces keep their case.
        let address = host.prefix { $0 != UInt8(ascii: "%") }
        let name =
            String(decoding: address, as: UTF8.self).lowercased()
            + String(decoding: host[address.endIndex...], as: UTF8.self)
        // As in a URL: a colon with nothing behind it says nothing (RFC 3986 §3.2.3).
        guard let port, !port.isEmpty else { return (name, nil) }
        guard port.count <= 5, port.allSatisfy({ $0 &- 0x30 < 10 }),
            let number = UInt16(String(decoding: port, as: UTF8.self)), number > 0
        else { throw .port }
        return (name, number)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
    }
}
