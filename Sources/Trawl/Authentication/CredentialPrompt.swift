/// Asks a person for credentials, when nothing else has any.
///
/// Each question is about one protection space. Other fetches go on meanwhile, and those that need the same wait and
/// are given what worked. Questions about other spaces, or about other users that requests name, may be open at the
/// same time: who asks a person lets them take turns.
///
/// - Source: ASIHTTPRequest's authentication dialog.
public protocol CredentialPrompt: Sendable {
    /// What the person says. Called on no particular thread, and cancelled when the fetch that asks ends. When it
    /// throws, that fetch fails with ``FetchError/Code/hookFailed``.
    func credential(for challenge: AuthenticationChallenge) async throws -> CredentialDecision
    /// Whether it is asked for servers too, and not for proxies alone. Asked once, when a coordinator is made. Default
    /// true.
    var asksForServers: Bool { get }
}

extension CredentialPrompt {
    /// For servers and proxies.
    public var asksForServers: Bool { true }
}
