/// Why a cookie was not taken.
package enum CookieRefusal: Error, Sendable, Hashable, CaseIterable {
    /// The line, or the name or value of a cookie, holds a control byte, or a separator where none may be.
    case forbiddenByte
    /// Name and value are both empty.
    case empty
    /// Name and value have more than 4,096 bytes together.
    case tooLong
    /// The path has more than 4,096 bytes, or does not start with a slash.
    case path
    /// The host or domain is empty, has more than 255 bytes, or bytes that no host has.
    case domain
    /// The host is not in the domain of the cookie.
    case foreignDomain
    /// The domain is a public suffix.
    case publicSuffix
    /// A cookie with `Secure` from an origin that is not secure.
    case insecureOrigin
    /// `SameSite=None` without `Secure`, from a server.
    case insecureSameSiteNone
    /// `__Secure-` without `Secure`.
    case securePrefix
    /// `__Host-` without `Secure` or `Path=/`, or with `Domain`.
    case hostPrefix
    /// It would hide a cookie with `Secure`, and comes from an origin that is not secure.
    case hidesSecure
    /// The accept policy does not want it.
    case policy
    /// A line of a file that does not have the form of one.
    case syntax

    /// The reason in words.
    package var text: String {
        switch self {
        case .forbiddenByte: "it has a control character, or a separator where none may be"
        case .empty: "name and value are both empty"
        case .tooLong: "name and value have more than 4096 bytes together"
        case .path: "the path is too long, or does not start with a slash"
        case .domain: "the domain is empty, too long, or has characters that no host has"
        case .foreignDomain: "the host is not in the domain of the cookie"
        case .publicSuffix: "the domain is a public suffix"
        case .insecureOrigin: "Secure from an origin that is not secure"
        case .insecureSameSiteNone: "SameSite=None without Secure"
        case .securePrefix: "__Secure- without Secure"
        case .hostPrefix: "__Host- without Secure or Path=/, or with Domain"
        case .hidesSecure: "it would hide a secure cookie"
        case .policy: "the accept policy does not want it"
        case .syntax: "this is no cookie"
        }
    }
}
