package import TrawlHTTP

/// The proxy one hop goes through.
package struct ProxyRoute: Sendable, Hashable {
    /// How it is spoken to.
    package var kind: ProxyKind
    /// A name in ASCII or an address; IPv6 in brackets.
    package var host: String
    /// Where it listens.
    package var port: UInt16
    /// Whether `http` URLs go through a tunnel too (RFC 9110 §9.3.6), as `https` URLs always do.
    package var tunnels = false
    /// What a SOCKS proxy is told; both empty is nothing.
    package var user = ""
    /// What a SOCKS proxy is told beside the user.
    package var password = ""
    /// For an HTTP proxy: field lines for it alone, with CONNECT or with the request itself.
    package var fields = FieldLines()
    /// Stands for whom the proxy takes us for; 0 is nobody. Connections of one are not used for another.
    package var identity: UInt64 = 0
    /// Who the connection to an HTTP proxy is opened as; nil for nobody.
    package var login: ConnectionLogin?

    /// A proxy that is told nothing.
    package init(_ kind: ProxyKind, host: String, port: UInt16) {
        self.kind = kind
        self.host = host
        self.port = port
    }

    /// Its URL, without what is secret.
    package var text: String { "\(kind.scheme)://\(host):\(port)" }

    func write(to writer: inout WireWriter) {
        writer.write(kind.rawValue)
        writer.write(host)
        writer.write(port)
        writer.write(tunnels)
        writer.write(user)
        writer.write(password)
        writer.write(fields)
        writer.write(identity)
        ConnectionLogin.write(login, to: &writer)
    }

    /// - Parameter kind: Its first byte, which was not 0.
    init(kind: UInt8, from reader: inout WireReader) throws(FrameError) {
        guard let kind = ProxyKind(rawValue: kind) else { throw .invalid(.proxy) }
        let host = try reader.text()
        let port = try reader.uint16()
        guard !host.isEmpty, host.utf8.count <= 255, !host.utf8.contains(0), port > 0 else { throw .invalid(.proxy) }
        self.init(kind, host: host, port: port)
        tunnels = try reader.bool()
        user = try reader.text()
        password = try reader.text()
        fields = try reader.fields()
        identity = try reader.uint64()
        login = try ConnectionLogin.read(from: &reader)
        // SOCKS knows no challenges.
        guard login == nil || kind.speaksHTTP else { throw .invalid(.proxy) }
    }
}

extension ProxyRoute: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its URL, without what is secret.
    package var description: String { text }
    /// Its URL, without what is secret.
    package var debugDescription: String { text }
    /// A mirror that shows nothing else.
    package var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
