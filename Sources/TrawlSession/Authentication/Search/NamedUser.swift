import TrawlHTTP

/// Whom a request names: by credentials of its own, or by a user in its URL whose password is to be found.
///
/// What is found elsewhere counts only when it is that user's: a request that mistyped its password must not be let in
/// as somebody else (ASI-AUTH-09).
package struct NamedUser: Sendable, Hashable {
    /// The credentials given, those of the request before those of its URL.
    private let given: [Credentials.Kind]
    /// The user to find a password for, told apart as secrets are; nil when credentials are given.
    private let lonely: Secret?

    /// - Parameters:
    ///   - explicit: Credentials of the request.
    ///   - url: Credentials in its URL.
    ///   - user: The user in its URL.
    /// - Returns: Nil when nobody is named.
    init?(explicit: Credentials?, url: Credentials?, user: String?) {
        given = [explicit, url].compactMap { $0?.kind }
        lonely = given.isEmpty ? user.map { Secret($0) } : nil
        if given.isEmpty, lonely == nil { return nil }
    }

    /// The users named, the one that counts most first; none when it is a token or a ticket that was given.
    private var users: [String] {
        if let lonely { return [lonely.revealed] }
        return given.compactMap { Credentials($0).user }
    }

    /// The user to look for where each has an entry; nil when it has no name.
    package var user: String? { users.first }

    /// Whether the request gave these credentials itself.
    func gives(_ credentials: Credentials) -> Bool { given.contains(credentials.kind) }

    /// Whether credentials of a source are those of this user.
    ///
    /// What worked for others in the session has to be the very same, password and all: else whoever knows a name would
    /// be let in. Where the caller's own passwords are kept, the user has to be the same. Who is asked knows what is
    /// asked.
    func allows(_ credentials: Credentials, from source: CredentialSource) -> Bool {
        switch source {
        case .explicit, .url, .decision, .prompt: true
        case .session where !given.isEmpty: gives(credentials)
        case .session, .netrc, .vault: isUser(credentials.user)
        }
    }

    private func isUser(_ name: String?) -> Bool {
        guard let name else { return false }
        return users.contains { $0.hasSameBytes(as: name) }
    }
}

/// What is asked about: a protection space, on behalf of a user.
///
/// Fetches that name different users do not share an answer.
package struct CredentialSubject: Sendable, Hashable {
    /// What asks for credentials.
    package let space: ProtectionSpace
    /// Whom the fetch names; nil for nobody.
    package let named: NamedUser?

    /// A subject of its parts.
    package init(_ space: ProtectionSpace, named: NamedUser? = nil) {
        self.space = space
        self.named = named
    }
}
