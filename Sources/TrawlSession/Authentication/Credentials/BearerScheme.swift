/// The field value of Bearer, and what its challenges say about a token.
///
/// - Source: RFC 6750.
package enum BearerScheme {
    /// Why a token was refused (RFC 6750 §3.1).
    package enum Refusal: String, Sendable, Hashable {
        /// The request was wrong, whatever the token.
        case invalidRequest = "invalid_request"
        /// The token has expired, was revoked or is none.
        case invalidToken = "invalid_token"
        /// The token is good for less than this.
        case insufficientScope = "insufficient_scope"
    }

    /// What `Authorization` or `Proxy-Authorization` is to say.
    ///
    /// RFC 6750 §2.1 wants a token68. Servers give out others, with bars or colons, and want them back: any visible
    /// ASCII is sent but the comma and the quote, which would make it something else.
    package static func fieldValue(_ credentials: Credentials) throws(CredentialsFault) -> [UInt8] {
        guard case .bearer(let token) = credentials.kind else { throw .kind }
        return Array("Bearer ".utf8) + (try checked(token))
    }

    /// The field value `Token token="…"`, an older form that servers of Rails know.
    package static func tokenFieldValue(_ token: Secret) throws(CredentialsFault) -> [UInt8] {
        Array("Token token=\"".utf8) + (try checked(token)) + [.quote]
    }

    private static func checked(_ token: Secret) throws(CredentialsFault) -> [UInt8] {
        let bytes = Array(token.revealed.utf8)
        if bytes.contains(where: \.isControl) { throw .controlCharacter }
        if bytes.isEmpty || !bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != .comma && $0 != .quote }) {
            throw .token
        }
        return bytes
    }

    /// What a challenge says about the token that was sent, or nil when it says nothing known.
    package static func refusal(in challenge: Challenge) -> Refusal? {
        challenge.value("error").flatMap { Refusal(rawValue: String(decoding: $0, as: UTF8.self)) }
    }
}
