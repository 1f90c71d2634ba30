import TrawlHTTP

/// A server that a client certificate may be shown to, asked about before a connection to it is made: it is not known
/// yet whether the server wants one.
///
/// It is always the server of the URL. Proxies are shown no client certificate.
public struct IdentityQuestion: Sendable, Hashable {
    /// The server's host, in lower case and ASCII form.
    public let host: String
    /// Its port.
    public let port: Int

    init(_ origin: Origin) {
        host = origin.host
        port = Int(origin.port)
    }
}
