import TrawlHTTP
import TrawlURL

/// A domain of an argument: a host, a domain with or without a leading dot, or a URL, whose host counts.
struct CookieDomain {
    /// As cookies have it: in lower case and ASCII form, without the dot; an IPv6 address in brackets.
    let text: String

    init(_ argument: String) {
        let name = Self.withoutDot(argument)
        let isAddress = name.utf8.contains(UInt8(ascii: ":")) && IPAddress(name) != nil && name.first != "["
        // Read as the URL is that a cookie came from; what is no host of a URL may still be in a file of cookies.
        let target = try? URLParser().parse(URLText.completed(isAddress ? "[\(name)]" : name))
        text = target.map { Self.withoutDot($0.origin.host) } ?? name.lowercased()
    }

    /// Whether a domain is this one or below it.
    func holds(_ domain: String) -> Bool { domain == text || domain.hasSuffix("." + text) }

    private static func withoutDot(_ name: String) -> String {
        name.first == "." ? String(name.dropFirst()) : name
    }
}
