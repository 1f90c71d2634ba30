/// What a cookie says about requests that other sites cause.
///
/// It is kept, listed and exported, and decides nothing about requests: there are no documents here that could cause
/// them. A server's `None` counts with `Secure` alone (`CookieRules.receive`).
///
/// - Source: RFC 6265bis §5.6.7.
package enum SameSite: UInt8, Sendable, Hashable, CaseIterable {
    /// Nothing was said, or nothing known.
    case unset
    /// `None`.
    case none
    /// `Lax`.
    case lax
    /// `Strict`.
    case strict

    /// What an attribute's value says, in whatever case.
    init(_ value: UnsafeRawBufferPointer) {
        if value.isIgnoringCase("none") {
            self = .none
        } else if value.isIgnoringCase("lax") {
            self = .lax
        } else if value.isIgnoringCase("strict") {
            self = .strict
        } else {
            self = .unset
        }
    }

    /// The word of the attribute; nil when nothing was said.
    package var word: String? {
        switch self {
        case .unset: nil
        case .none: "None"
        case .lax: "Lax"
        case .strict: "Strict"
        }
    }
}
