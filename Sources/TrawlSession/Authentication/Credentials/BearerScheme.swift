/// The field value of Bearer.
///
/// - Source: RFC 6750.
package enum BearerScheme {
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
}
