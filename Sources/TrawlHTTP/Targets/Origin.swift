/// Scheme, host and port: what connections, credentials and politeness are bound to.
///
/// - Source: RFC 6454 §4, RFC 9110 §4.3.1.
package struct Origin: Sendable, Hashable {
    /// Lower case, as in `https`.
    package var scheme: String
    /// Lower case, in ASCII form; an IPv6 address keeps its brackets.
    package var host: String
    /// The effective port: the scheme's default when the URL names none.
    package var port: UInt16

    /// An origin of parts that are already normalised.
    package init(scheme: String, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// By host and port alone: origins that differ in the scheme share a hash and are still told apart, and hashing is
    /// on the way of every fetch.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }

    /// Scheme, host and port as URLs begin with them, without the slash: `https://example.org`, `http://[::1]:8080`.
    package var text: String {
        let port = explicitPort.map { ":\($0)" } ?? ""
        return "\(scheme)://\(host)\(port)"
    }

    /// The port when it is not the scheme's own, or nil.
    package var explicitPort: UInt16? {
        port == (scheme == "https" ? 443 : 80) ? nil : port
    }
}
