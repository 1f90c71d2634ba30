/// Asks a person for credentials, when nothing else has any.
///
/// Asked about one protection space at a time; other fetches go on meanwhile, and those that need the same wait and are
/// given what worked.
///
/// - Source: ASIHTTPRequest's authentication dialog.
public protocol CredentialPrompt: Sendable {
    /// What the person says. Called on no particular thread. When it throws, the fetch that asks fails with
    /// ``FetchError/Code/hookFailed``.
    func credential(for challenge: AuthenticationChallenge) async throws -> CredentialDecision
    /// Whether it is asked for servers too, and not for proxies alone. Asked once, when a coordinator is made. Default
    /// true.
    var asksForServers: Bool { get }
}

extension CredentialPrompt {
    /// For servers and proxies.
    public var asksForServers: Bool { true }
}
