package import TrawlHTTP

/// What credentials are bound to: a server or proxy, one of its realms, and the kind of exchange.
///
/// - Source: RFC 9110 §11.5.
package struct ProtectionSpace: Sendable, Hashable, CustomStringConvertible {
    /// Server or proxy.
    package let side: AuthenticationSide
    /// Scheme, host and port of the server or of the proxy. A proxy's scheme says how it is spoken to.
    package let origin: Origin
    /// The scheme that protects it; all algorithms of Digest are one.
    package let scheme: AuthenticationScheme
    /// The realm, or nil when there was none. A realm that is there and empty is another one.
    package let realm: [UInt8]?

    /// A space of its parts.
    package init(side: AuthenticationSide, origin: Origin, scheme: AuthenticationScheme, realm: [UInt8]?) {
        self.side = side
        self.origin = origin
        self.scheme = scheme
        self.realm = realm
    }

    /// Whether nobody on the way can read the password: the connection is encrypted, or the password is never sent.
    package var receivesSecurely: Bool {
        !scheme.sendsSecret || origin.scheme == "https"
    }

    /// The realm as text to show, or nil.
    package var realmText: String? {
        realm.map { $0.withUnsafeBytes(FieldLines.text) }
    }

    /// For logs; nothing in it is secret.
    package var description: String {
        let place = "\(origin.scheme)://\(origin.host):\(origin.port)"
        let realm = realmText.map { " \"\($0)\"" } ?? ""
        return "\(side == .proxy ? "proxy " : "")\(place)\(realm) (\(scheme.name))"
    }
}
