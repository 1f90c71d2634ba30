import TrawlHTTP
import TrawlSession

/// What is told of authentication step by step (ASI-AUTH-18): schemes, realms and sources, and never a user or a
/// secret.
extension Supervisor {
    /// A head came that challenges.
    ///
    /// - Parameter isRefusal: Whether what the request said was refused by it.
    func tellChallenge(
        _ challenges: ChallengeList, from side: AuthenticationSide, isRefusal: Bool, _ fetch: RunningFetch
    ) {
        tell(.authentication, fetch, "\(side.name) \(isRefusal ? "refuses, and " : "")asks by \(challenges.shown)")
    }

    /// A hop says who it is made as.
    func tellProposal(_ proposal: CredentialSearch.Proposal, to side: AuthenticationSide, _ fetch: RunningFetch) {
        tell(
            .authentication, fetch,
            "tells \(side.name) by \(proposal.scheme.name)\(Self.shown(proposal.space?.realmText))"
                + "\(proposal.isAhead ? " before it asks" : ""); source: \(proposal.source)")
    }

    /// Somebody is asked, or will be when another fetch has the answer.
    func tellQuestion(_ question: FetchAuthentication.Question, _ fetch: RunningFetch) {
        tell(
            .authentication, fetch,
            "asks the \(question.source) for \(question.side.name), by \(question.candidate.scheme.name)"
                + Self.shown(question.candidate.space.realmText))
    }

    /// A head came that does not ask again.
    func tellAnswer(_ status: UInt16, from side: AuthenticationSide, _ fetch: RunningFetch) {
        tell(.authentication, fetch, "\(side.name) does not ask again: status \(status)")
    }

    /// There is nothing left to try.
    func tellEnd(_ reason: CredentialSearch.Reason, _ side: AuthenticationSide, _ fetch: RunningFetch) {
        tell(.authentication, fetch, "nothing more to tell \(side.name): \(reason)")
    }

    /// A vault has not kept what it was to keep for good.
    func tellNotKept(_ reason: String) { tell(.authentication, "the vault has not kept what works: \(reason)") }

    private static func shown(_ realm: String?) -> String { realm.map { " for \"\($0)\"" } ?? "" }
}

extension AuthenticationSide {
    fileprivate var name: String { self == .server ? "the server" : "the proxy" }
}

extension ChallengeList {
    /// Schemes and realms, in their order.
    fileprivate var shown: String {
        challenges.map { challenge in
            challenge.name + (challenge.realmText.map { " for \"\($0)\"" } ?? "")
        }.joined(separator: ", ")
    }
}
