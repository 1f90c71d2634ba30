/// Why a text is not a URL that can be requested.
package enum URLFailure: Error, Sendable, Hashable {
    /// The text has no characters.
    case empty
    /// The text is longer than `URLParser.maximumLength` bytes.
    case tooLong
    /// The text breaks the grammar; the reason is for people.
    case malformed(reason: String)
    /// The authority is missing or has no host, which http and https must have (RFC 9110 §4.2.1).
    case noHost
    /// The scheme has no authority, as in `mailto:` and `data:`; its name in lower case.
    case unsupportedScheme(String)

    /// What is wrong, for people.
    package var text: String {
        switch self {
        case .empty: "the URL is empty"
        case .tooLong: "the URL is longer than \(URLParser.maximumLength) bytes"
        case .malformed(let reason): reason
        case .noHost: "the URL has no host"
        case .unsupportedScheme(let name): "the scheme \(name) is not supported"
        }
    }
}
