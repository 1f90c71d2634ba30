import TrawlHTTP
import TrawlSession

/// A proxy: how it is spoken to, where it is, and as whom.
///
/// Printed, reflected or encoded it shows neither user nor password.
public struct Proxy: Sendable, Hashable {
    /// How a proxy is spoken to.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// HTTP in clear; `https` URLs go through a tunnel (CONNECT).
        case http
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
    }

    /// The form the rules use.
    let value: TrawlSession.Proxy

    init(_ value: TrawlSession.Proxy) {
        self.value = value
    }

    /// A proxy of its parts.
    ///
    /// - Parameters:
    ///   - host: A name in ASCII, or an address; brackets around IPv6.
    ///   - port: Nil is 1080, or 443 for `https`.
    ///   - user: What it is told about us; nil is nothing. To an HTTP proxy it goes as ``ProxyPolicy/schemes`` and
    ///     ``ProxyPolicy/sendsAhead`` say: as Basic, without being asked for.
    ///   - password: Goes with the user.
    /// - Throws: ``FetchError/Code/badRequest`` for a host that is none.
    public init(
        _ kind: Kind, host: String, port: UInt16? = nil, user: String? = nil, password: String = ""
    ) throws(FetchError) {
        let place: TrawlSession.Proxy
        do throws(ProxyFault) {
            guard !host.utf8.contains(where: { "@/?#:".utf8.contains($0) }) || host.hasPrefix("[") else {
                throw .host
            }
            guard port != 0 else { throw .port }
            place = try TrawlSession.Proxy("\(kind.rawValue)://\(host)\(port.map { ":\($0)" } ?? "")")
        } catch {
            throw FetchError(.badRequest, error.explanation)
        }
        value = place.with(user.map { Credentials(user: $0, password: password) })
    }

    /// A proxy by its URL, `[scheme://][user[:password]@]host[:port]`, as curl reads the argument of `-x`.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` that says what is wrong, and not what stands in it.
    public init(_ url: String) throws(FetchError) {
        do throws(ProxyFault) {
            value = try TrawlSession.Proxy(url)
        } catch {
            throw FetchError(.badRequest, error.explanation)
        }
    }

    /// How it is spoken to.
    public var kind: Kind {
        switch value.kind {
        case .http: .http
        case .https: .https
        case .socks4: .socks4
        case .socks4a: .socks4a
        case .socks5: .socks5
        case .socks5h: .socks5h
        }
    }
    /// In lower case; an IPv6 address in brackets.
    public var host: String { value.host }
    /// Where it listens.
    public var port: UInt16 { value.port }
    /// The user's name; nil when it is told nothing.
    public var user: String? { value.credentials?.user }
    /// Its URL without user and password.
    public var url: String { value.text }

    /// The same proxy, which is told this about us.
    public func with(user: String, password: String) -> Proxy {
        Proxy(value.with(Credentials(user: user, password: password)))
    }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its URL without user and password.
    public var description: String { url }
    /// Its URL without user and password.
    public var debugDescription: String { url }
    /// A mirror that shows nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}

extension Proxy: Codable {
    /// Reads its URL.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes its URL, without user and password.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(url)
    }
}
