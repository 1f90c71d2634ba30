/// Why credentials cannot be sent by a scheme. Never says what they are.
package enum CredentialsFault: Error, Sendable, Hashable {
    /// A user name with a colon cannot be told from its password (RFC 7617 §2).
    case colonInUser
    /// A control character in user or password (RFC 7617 §2), or in a token.
    case controlCharacter
    /// A token with a byte that could end it or the field (RFC 6750 §2.1), or an empty one.
    case token
    /// They are of a kind the scheme has no use for.
    case kind
    /// There is no function for the hash the server wants.
    case hash
    /// The counts of a nonce are used up.
    case nonceUsedUp
    /// The body's digest is wanted and was not given (RFC 7616 §3.4.3).
    case bodyDigest

    /// What a person is told.
    package var explanation: String {
        switch self {
        case .colonInUser: "a user name must not contain a colon"
        case .controlCharacter: "user name or password contains a control character"
        case .token: "the token contains a character that cannot be sent"
        case .kind: "the credentials are of another kind"
        case .hash: "the hash function is not available"
        case .nonceUsedUp: "the server's nonce is used up"
        case .bodyDigest: "the server wants the body to be protected, and its digest is not known"
        }
    }
}
