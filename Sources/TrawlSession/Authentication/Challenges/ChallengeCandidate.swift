/// A challenge that could be answered, and with what.
package struct ChallengeCandidate: Sendable, Hashable {
    /// The challenge.
    package let challenge: Challenge
    /// Its scheme.
    package let scheme: AuthenticationScheme
    /// What it protects.
    package let space: ProtectionSpace
    /// The challenge of Digest, read and checked; nil for other schemes.
    package let digest: DigestChallenge?

    /// Whether credentials of this kind answer it.
    package func takes(_ credentials: Credentials) -> Bool {
        switch (scheme, credentials.kind) {
        case (.bearer, .bearer): true
        case (.basic, .password), (.digest, .password), (.ntlm, .password), (.negotiate, .password): true
        case (.negotiate, .ticket): true
        case (.bearer, _), (.basic, _), (.digest, _), (.ntlm, _), (.negotiate, _): false
        }
    }

    /// Whether credentials of this kind are what it is answered with. Negotiate takes a password where nothing else
    /// will do, and is answered with the ticket there is, or not at all: libcurl's GSSAPI makes no ticket of one.
    package func isMeant(for credentials: Credentials) -> Bool {
        takes(credentials) && (scheme != .negotiate || credentials.kind == .ticket)
    }
}
