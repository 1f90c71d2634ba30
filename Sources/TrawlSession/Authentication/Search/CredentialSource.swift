/// Where credentials come from, in the order in which they are looked for.
package enum CredentialSource: UInt8, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Given with the request.
    case explicit = 1
    /// User information of the URL the caller gave.
    case url = 2
    /// What worked before in this session.
    case session = 3
    /// A netrc file.
    case netrc = 4
    /// The user's vault.
    case vault = 5
    /// The program's decision.
    case decision = 6
    /// A person at a terminal.
    case prompt = 7

    /// Whether it is asked anew each time, and may know better then.
    var isAsked: Bool { self == .decision || self == .prompt }

    /// Those that may know the password of a user who is named without one.
    package static let knowsPasswords: Set<CredentialSource> = [.netrc, .vault, .decision, .prompt]

    /// For logs.
    package var description: String {
        switch self {
        case .explicit: "request"
        case .url: "URL"
        case .session: "session"
        case .netrc: "netrc"
        case .vault: "vault"
        case .decision: "decision"
        case .prompt: "prompt"
        }
    }
}
