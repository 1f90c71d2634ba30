import TrawlSession

/// What was said about who we are in the exchange a response came from.
public struct AuthenticationReport: Sendable, Hashable {
    /// Where credentials came from.
    public enum Source: String, Sendable, Hashable, Codable {
        /// ``RequestOptions/Authentication/credential``.
        case request
        /// The URL.
        case url
        /// The session: what worked before.
        case session
        /// A netrc file.
        case netrc
        /// The vault.
        case vault
        /// The program's decision.
        case decision
        /// A person.
        case prompt
    }

    /// The scheme's name, as in `Digest`.
    public let scheme: String
    /// The realm, as far as one is known.
    public let realm: String?
    /// Where the credentials came from.
    public let source: Source
    /// How many challenges the fetch has answered, redirects included; 0 when credentials sent ahead were enough.
    public let rounds: Int
    /// How many credentials were refused.
    public let failures: Int
    /// Whether it was said before it was asked for.
    public let isAhead: Bool
}

extension AuthenticationReport.Source {
    init(_ source: CredentialSource) {
        switch source {
        case .explicit: self = .request
        case .url: self = .url
        case .session: self = .session
        case .netrc: self = .netrc
        case .vault: self = .vault
        case .decision: self = .decision
        case .prompt: self = .prompt
        }
    }
}
