import Trawl

/// A program that answers questions for credentials as a test says.
final class Answering: FetchDecisions {
    let asked = Locked([AuthenticationChallenge]())
    let answer: @Sendable (AuthenticationChallenge) async -> CredentialDecision

    init(_ answer: @escaping @Sendable (AuthenticationChallenge) async -> CredentialDecision) { self.answer = answer }

    func credentials(for challenge: AuthenticationChallenge) async -> CredentialDecision {
        asked.withLock { $0.append(challenge) }
        return await answer(challenge)
    }

    var challenges: [AuthenticationChallenge] { asked.withLock { $0 } }

    /// Knows the answer, and says it when the gate lets it.
    static func knowing(_ credential: Credential, behind gate: Gate) -> Answering {
        Answering { _ in
            await gate.enter()
            return .use(credential)
        }
    }
}

/// A request whose credentials may be sent in clear text.
func clearTextRequest(_ url: String) -> Request {
    var request = Request(url)
    request.options.authentication.allowsClearText = true
    return request
}
