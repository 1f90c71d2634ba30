package import TrawlSession

/// What proves to a server or proxy who we are.
///
/// Printed, reflected or encoded with what holds it, it shows neither user nor secret. It leaves this process in
/// requests to the server or proxy that asked for it, and in a vault the program chose; never in a log, an error, a
/// record or the cache.
public struct Credential: Sendable, Hashable {
    /// How long credentials that worked are kept.
    public enum Persistence: String, Sendable, Hashable, Codable {
        /// For the fetch alone.
        case none
        /// Until the coordinator ends or its session is cleared.
        case session
        /// In the vault too, when the coordinator has one.
        case permanent
    }

    /// The form the rules use.
    package let credentials: Credentials

    /// Credentials of the rules.
    package init(_ credentials: Credentials) {
        self.credentials = credentials
    }

    /// A user with a password.
    ///
    /// - Parameter domain: For NTLM; a user written `DOMAIN\user` has it too.
    public init(user: String, password: String, domain: String = "", persistence: Persistence = .session) {
        credentials = Credentials(user: user, password: password, domain: domain, persistence: .init(persistence))
    }

    /// A bearer token (RFC 6750). It is sent without being asked for.
    public init(bearer token: String, persistence: Persistence = .session) {
        credentials = Credentials(bearer: token, persistence: .init(persistence))
    }

    /// The Kerberos ticket of the user this process runs as, for Negotiate.
    public static let ticket = Credential(Credentials(.ticket, persistence: .none))

    /// How long they are kept when they work.
    public var persistence: Persistence { Persistence(credentials.persistence) }
    /// The user's name; nil for a token or ticket.
    public var user: String? { credentials.user }
    /// The domain of the user; empty when there is none.
    public var domain: String {
        if case .password(_, _, let domain) = credentials.kind { domain } else { "" }
    }
    /// The password or token, to be put into a vault and nowhere else; nil for a ticket.
    public var secret: String? {
        switch credentials.kind {
        case .password(_, let password, _): password.revealed
        case .bearer(let token): token.revealed
        case .ticket: nil
        }
    }
    /// Whether it is a token.
    public var isBearer: Bool {
        if case .bearer = credentials.kind { true } else { false }
    }

    /// The same, kept as long as that.
    public func kept(_ persistence: Persistence) -> Credential {
        Credential(Credentials(credentials.kind, persistence: .init(persistence)))
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind, nothing else.
    public var description: String { credentials.description }
    /// The kind, nothing else.
    public var debugDescription: String { description }
    /// A mirror that shows nothing.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension Credential.Persistence {
    fileprivate init(_ persistence: Credentials.Persistence) {
        switch persistence {
        case .none: self = .none
        case .session: self = .session
        case .permanent: self = .permanent
        }
    }
}

extension Credentials.Persistence {
    fileprivate init(_ persistence: Credential.Persistence) {
        switch persistence {
        case .none: self = .none
        case .session: self = .session
        case .permanent: self = .permanent
        }
    }
}
