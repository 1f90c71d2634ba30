/// Who asks for credentials: the server itself, or a proxy on the way to it.
///
/// The two never share credentials, counters or protection spaces.
///
/// - Source: RFC 9110 §11.6 (servers), §11.7 (proxies).
package enum AuthenticationSide: UInt8, Sendable, Hashable, CaseIterable {
    /// 401, `WWW-Authenticate`, `Authorization`, `Authentication-Info`.
    case server = 1
    /// 407, `Proxy-Authenticate`, `Proxy-Authorization`, `Proxy-Authentication-Info`.
    case proxy = 2

    /// The side that challenges by a status; nil for others, as nearly all are.
    package init?(status: UInt16) {
        switch status {
        case 401: self = .server
        case 407: self = .proxy
        default: return nil
        }
    }

    /// The status that comes with challenges (RFC 9110 §15.5.2, §15.5.8).
    package var status: UInt16 { self == .server ? 401 : 407 }

    /// The field that challenges (RFC 9110 §11.6.1, §11.7.1).
    package var challengeField: String { self == .server ? "WWW-Authenticate" : "Proxy-Authenticate" }

    /// The field that carries credentials (RFC 9110 §11.6.2, §11.7.2).
    package var credentialsField: String { self == .server ? "Authorization" : "Proxy-Authorization" }

    /// The field of a response that completes the exchange (RFC 9110 §11.6.3, §11.7.3).
    package var infoField: String { self == .server ? "Authentication-Info" : "Proxy-Authentication-Info" }
}
