package import TrawlHTTP

/// One proxy: how it is spoken to, where it is, and what it is told about us.
package struct Proxy: Sendable, Hashable {
    /// How it is spoken to.
    package let kind: ProxyKind
    /// In lower case; an IPv6 address in brackets.
    package let host: String
    /// Where it listens.
    package let port: UInt16
    /// User and password given with it, or nil.
    package let credentials: Credentials?

    /// A proxy of parts that are in that form already.
    package init(_ kind: ProxyKind, host: String, port: UInt16, credentials: Credentials? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// What its credentials are bound to. A SOCKS proxy has the scheme of its kind.
    package var origin: Origin { Origin(scheme: kind.scheme, host: host, port: port) }

    /// Its URL without user and password: what a person is shown.
    package var text: String { "\(kind.scheme)://\(host):\(port)" }

    /// The same proxy, which is told this user and password.
    package func with(_ credentials: Credentials?) -> Proxy {
        Proxy(kind, host: host, port: port, credentials: credentials)
    }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its URL without user and password.
    package var description: String { text }
    /// Its URL without user and password.
    package var debugDescription: String { text }
    /// A mirror that shows nothing else.
    package var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
