import TrawlHTTP

/// What proves to a server or proxy who we are.
///
/// Printed in any way it says its kind, and neither user nor secret. It is not `Codable`, so that no record takes it
/// along by accident.
package struct Credentials: Sendable, Hashable {
    /// The kinds of credentials.
    package enum Kind: Sendable, Hashable {
        /// A user with a password; the domain is for NTLM and Negotiate, empty when there is none.
        case password(user: String, password: Secret, domain: String)
        /// A token that is the credentials (RFC 6750).
        case bearer(Secret)
        /// The Kerberos ticket of the user this process runs as.
        case ticket

        // Byte for byte, as `Secret`.
        package static func == (one: Kind, other: Kind) -> Bool {
            switch (one, other) {
            case (.password(let name, let password, let domain), .password(let name2, let password2, let domain2)):
                name.hasSameBytes(as: name2) && password == password2 && domain.hasSameBytes(as: domain2)
            case (.bearer(let token), .bearer(let token2)): token == token2
            case (.ticket, .ticket): true
            case (.password, _), (.bearer, _), (.ticket, _): false
            }
        }
    }

    /// How long credentials that worked are kept.
    package enum Persistence: UInt8, Sendable, Hashable {
        /// For this fetch.
        case none = 0
        /// Until the session ends or is cleared.
        case session = 1
        /// In the user's vault.
        case permanent = 2
    }

    /// What they are.
    package let kind: Kind
    /// How long they are kept when they work.
    package let persistence: Persistence

    /// Credentials of that kind.
    package init(_ kind: Kind, persistence: Persistence = .session) {
        self.kind = kind
        self.persistence = persistence
    }

    /// A user with a password. `DOMAIN\user` stays one name: only NTLM and Negotiate take it apart.
    package init(user: String, password: String, domain: String = "", persistence: Persistence = .session) {
        self.init(.password(user: user, password: Secret(password), domain: domain), persistence: persistence)
    }

    /// A bearer token.
    package init(bearer token: String, persistence: Persistence = .session) {
        self.init(.bearer(Secret(token)), persistence: persistence)
    }

    /// The user's name, or nil when there is none.
    package var user: String? {
        if case .password(let user, _, _) = kind { user } else { nil }
    }

    /// How many bytes of text they are.
    package var size: Int {
        switch kind {
        case .password(let user, let password, let domain):
            user.utf8.count + password.revealed.utf8.count + domain.utf8.count
        case .bearer(let token): token.revealed.utf8.count
        case .ticket: 0
        }
    }

    /// Whether they prove the same, however long they are kept.
    package func provesSame(as other: Credentials) -> Bool { kind == other.kind }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind, nothing else.
    package var description: String { kind.description }
    /// The kind, nothing else.
    package var debugDescription: String { description }
    /// A mirror that shows nothing.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension Credentials.Kind: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind, nothing else.
    package var description: String {
        switch self {
        case .password: "user and password"
        case .bearer: "bearer token"
        case .ticket: "ticket"
        }
    }
    /// The kind, nothing else.
    package var debugDescription: String { description }
    /// A mirror that shows nothing.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
