import TrawlHTTP
import TrawlPlatform
import TrawlSession
import TrawlURL

/// A cookie, as a jar holds it or a response sets it.
///
/// - Source: RFC 6265bis §5.
public struct Cookie: Sendable, Hashable {
    /// The rules' form, which keeps bytes that are no UTF-8.
    var content: TrawlSession.Cookie

    /// A cookie of a program's own, for one host and all of its paths unless changed.
    ///
    /// - Parameter domain: The host, or the domain whose hosts it is for when ``isHostOnly`` is false or it begins with
    ///   a dot. An IPv6 address may come without its brackets.
    public init(_ name: String, _ value: String, domain: String, path: String = "/") {
        content = TrawlSession.Cookie(
            name: Array(name.utf8), value: Array(value.utf8), domain: domain, path: path,
            creation: WallTime(seconds: 0))
    }

    init(_ content: TrawlSession.Cookie) { self.content = content }

    /// The name; may be empty. Bytes that are no UTF-8 are one character each.
    public var name: String {
        get { content.nameText }
        set { content.name = Array(newValue.utf8) }
    }
    /// The value. Bytes that are no UTF-8 are one character each.
    public var value: String {
        get { content.valueText }
        set { content.value = Array(newValue.utf8) }
    }
    /// The host, or the domain whose hosts it is for; jars give it without a leading dot, in lower case, and an IPv6
    /// address in brackets.
    public var domain: String {
        get { content.domain }
        set { content.domain = newValue }
    }
    /// Whether it is for the host alone. Default true; a domain with a leading dot is for all of its hosts.
    public var isHostOnly: Bool {
        get { content.isHostOnly }
        set { content.isHostOnly = newValue }
    }
    /// The path it is for, and all beneath it.
    public var path: String {
        get { content.path }
        set { content.path = newValue }
    }
    /// Whether it is for secure connections alone.
    public var isSecure: Bool {
        get { content.isSecure }
        set { content.isSecure = newValue }
    }
    /// Whether scripts do not get it. Kept for programs that care.
    public var isHTTPOnly: Bool {
        get { content.isHTTPOnly }
        set { content.isHTTPOnly = newValue }
    }
    /// What it says about requests from other sites. Kept, never enforced.
    public var sameSite: SameSite {
        get { SameSite(content.sameSite) }
        set { content.sameSite = newValue.content }
    }
    /// When it ends, in milliseconds since 1970; nil when it ends with the session.
    public var expires: Int64? {
        get { content.expiry?.milliseconds }
        set { content.expiry = newValue.map { WallTime(milliseconds: $0) } }
    }
    /// When the first one of its name, domain and path was made, in milliseconds since 1970; 0 for one out of no jar.
    public var created: Int64 { content.creation.milliseconds }
    /// When it was last sent or set, to the hour, in milliseconds since 1970; 0 for one out of no jar.
    public var lastUsed: Int64 { content.lastAccess.milliseconds }

    /// What a cookie says about requests from other sites.
    public enum SameSite: String, Sendable, Hashable, Codable {
        /// Nothing.
        case unset
        /// They get it.
        case none
        /// They get it when a person goes to its site.
        case lax
        /// They do not get it.
        case strict

        init(_ sameSite: TrawlSession.SameSite) {
            self =
                switch sameSite {
                case .unset: .unset
                case .none: .none
                case .lax: .lax
                case .strict: .strict
                }
        }

        var content: TrawlSession.SameSite {
            switch self {
            case .unset: .unset
            case .none: .none
            case .lax: .lax
            case .strict: .strict
            }
        }
    }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// Which cookie it is; never its value.
    public var description: String {
        "\(name.terminalSafe) for \(isHostOnly ? "" : ".")\(domain.terminalSafe)\(path.terminalSafe)"
    }

    /// As ``description``.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Text that no cookie can hold, made into text that one can.
public enum CookieText {
    /// The text with all that RFC 6265bis §4.1.1 does not want in a value, and the percent sign, as `%XX`.
    public static func encoded(_ text: String) -> String { CookieEncoding.encoded(text) }

    /// The text with each `%XX` as the byte it stands for; bytes that are no UTF-8 afterwards become U+FFFD.
    public static func decoded(_ text: String) -> String {
        String(decoding: CookieEncoding.decoded(Array(text.utf8)), as: UTF8.self)
    }
}

extension Response {
    /// The cookies that the response sets, from the network or stored, as far as the rules allow them; those that are
    /// over are left out (ASI-COOK-03).
    ///
    /// `Max-Age` counts from when the response came (RFC 6265bis §5.6.2), for what was stored by its `Age`.
    public var cookies: [Cookie] {
        guard let target = try? URLParser().parse(url) else { return [] }
        let now = WallClock.time()
        let cookies = CookieTarget.with(target) { target in
            CookieRules.cookies(
                in: packageHead.fields, from: target, under: CookieConditions(suffixes: CookieSettings.suffixes),
                at: receivedAt)
        }
        var left: [Cookie] = []
        for var cookie in cookies where cookie.expiry.map({ $0 > now }) ?? true {
            cookie.creation = WallTime(milliseconds: 0)
            cookie.lastAccess = cookie.creation
            left.append(Cookie(cookie))
        }
        return left
    }
}
