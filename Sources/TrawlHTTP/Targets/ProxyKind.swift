/// How a proxy is spoken to.
///
/// - Source: RFC 9110 §7.3.2 and §9.3.6 (HTTP), RFC 1928 and RFC 1929 (SOCKS 5); SOCKS 4 and 4a have no standard.
package enum ProxyKind: UInt8, Sendable, Hashable, CaseIterable {
    /// HTTP in clear.
    case http = 1
    /// HTTP over TLS.
    case https
    /// SOCKS 4; names are resolved here.
    case socks4
    /// SOCKS 4a; names are resolved by the proxy.
    case socks4a
    /// SOCKS 5; names are resolved here.
    case socks5
    /// SOCKS 5; names are resolved by the proxy.
    case socks5h

    /// The kind a proxy URL's scheme names, in lower case; `socks` is SOCKS 4, as curl has it.
    package init?(scheme: String) {
        switch scheme {
        case "http": self = .http
        case "https": self = .https
        case "socks4", "socks": self = .socks4
        case "socks4a": self = .socks4a
        case "socks5": self = .socks5
        case "socks5h": self = .socks5h
        default: return nil
        }
    }

    /// The scheme of its URLs.
    package var scheme: String {
        switch self {
        case .http: "http"
        case .https: "https"
        case .socks4: "socks4"
        case .socks4a: "socks4a"
        case .socks5: "socks5"
        case .socks5h: "socks5h"
        }
    }

    /// Whether it speaks HTTP, so that it may answer for itself: 407, or a refusal of CONNECT.
    package var speaksHTTP: Bool { self == .http || self == .https }

    /// The port when none is named; curl's.
    package var defaultPort: UInt16 { self == .https ? 443 : 1080 }
}
