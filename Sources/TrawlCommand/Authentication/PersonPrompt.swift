import Trawl
import TrawlPlatform

/// Asks the person for user and password, at the terminal or by a program (ASI-AUTH-17).
///
/// One question at a time, on a thread of its own, since a person takes time. Who has no answer (the end of input, or no
/// user) is not asked again for the same: of a thousand URLs of one server each would ask.
final class PersonPrompt: CredentialPrompt {
    /// What a person is asked about: a server or proxy, its realm, and the user that is named.
    private struct Subject: Hashable {
        let place: [String]
        let realm: String?
        let user: String?

        init(_ challenge: AuthenticationChallenge) {
            place = [challenge.isProxy ? "proxy" : "", challenge.scheme, challenge.host, String(challenge.port)]
            realm = challenge.realm
            user = challenge.user
        }
    }

    private let turn = PlainMutex()
    private let declined = Guarded(Set<Subject>())
    private let asker: SecretAsker
    let asksForServers: Bool

    /// - Parameter asksForServers: Whether it is asked for servers too, and not for proxies alone.
    init(_ asker: SecretAsker, asksForServers: Bool) {
        self.asker = asker
        self.asksForServers = asksForServers
    }

    func credential(for challenge: AuthenticationChallenge) async -> CredentialDecision {
        if isDeclined(challenge) { return .useStored }
        return await withCheckedContinuation { continuation in
            let thread = try? NamedThread.start(name: "trawl-prompt") { [self] in
                continuation.resume(returning: turn.holding { ask(challenge) })
            }
            if thread == nil { continuation.resume(returning: .useStored) }
        }
    }

    private func isDeclined(_ challenge: AuthenticationChallenge) -> Bool {
        declined.withLock { $0.contains(Subject(challenge)) }
    }

    private func ask(_ challenge: AuthenticationChallenge) -> CredentialDecision {
        // Perhaps while it waited for its turn.
        guard asker.isThere, !isDeclined(challenge) else { return .useStored }
        guard let user = user(for: challenge), !user.isEmpty,
            let password = asker.read(passwordQuestion(user, challenge))
        else {
            declined.withLock { _ = $0.insert(Subject(challenge)) }
            return .useStored
        }
        return .use(Credential(user: user, password: password))
    }

    /// Who it is to be. The user that the request names stands in the question, and need not be typed; a program is not
    /// asked for it again.
    private func user(for challenge: AuthenticationChallenge) -> String? {
        let named = challenge.user ?? ""
        if named.isEmpty { return asker.read(Self.text(challenge) + "User: ", isShown: true) }
        switch asker {
        case .terminal:
            let typed = asker.read(Self.text(challenge) + "User [\(named.terminalSafe)]: ", isShown: true)
            return typed.map { $0.isEmpty ? named : $0 }
        case .program: return named
        }
    }

    /// At the terminal what it belongs to stands above it.
    private func passwordQuestion(_ user: String, _ challenge: AuthenticationChallenge) -> String {
        switch asker {
        case .terminal: "Password: "
        case .program: Self.text(challenge) + "Password for \(user.terminalSafe): "
        }
    }

    /// Who asks, for what, and who could read the answer on its way. Words of the server are escaped: they are for a
    /// terminal.
    static func text(_ challenge: AuthenticationChallenge) -> String {
        let who = challenge.isProxy ? "The proxy" : "The server"
        let place = "\(challenge.scheme)://\(challenge.host):\(challenge.port)"
        var text = "\(who) \(place.terminalSafe) asks for a user and a password"
        if let realm = challenge.realm, !realm.isEmpty { text += " for \"\(realm.terminalSafe)\"" }
        text += " (\(challenge.authenticationScheme)).\n"
        if challenge.previousFailures > 0 { text += "The last ones were refused.\n" }
        if !challenge.isSecure {
            text += "Warning: the password is sent in clear; whoever is on the way can read it.\n"
        }
        if challenge.authenticationScheme == "NTLM" { text += "A domain is given as DOMAIN\\user.\n" }
        return text
    }
}
