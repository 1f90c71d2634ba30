import TrawlHTTP
import TrawlSession

/// What is done about a head that asks who we are, while the worker rests at it.
extension Supervisor {
    /// Whether challenges of a side may be answered.
    func answersChallenges(_ side: AuthenticationSide, _ fetch: RunningFetch) -> Bool {
        guard fetch.engine.authentication?.deliversNext != side else { return false }
        switch side {
        case .server: return fetch.plan.terms.authentication.isOn && fetch.saysWho
        case .proxy: return answersProxy(fetch)
        }
    }

    /// Whether the worker is to rest at a challenge, since it may be answered.
    func answersChallenges(_ fetch: RunningFetch) -> Bool {
        answersChallenges(.server, fetch) || answersChallenges(.proxy, fetch)
    }

    /// Whether a head may be a challenge that is answered: not one without the field, whose body the worker keeps.
    func answersChallenge(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) -> Bool {
        guard let side = AuthenticationSide(status: head.status), head.fields.contains(side.challengeField) else {
            return false
        }
        return answersChallenges(side, fetch)
    }

    /// What to do about a head that challenges.
    enum ChallengeStep {
        /// It is the answer.
        case deliver
        /// The fetch goes on with `FetchAuthentication.next` when its hop is over.
        case goOn
    }

    /// A head came that may challenge.
    ///
    /// - Parameters:
    ///   - isOfTunnel: Whether it is what a proxy answered to CONNECT.
    ///   - isStored: Whether it comes out of the store, and says nothing about who asks now.
    mutating func meet(
        _ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch, isOfTunnel: Bool = false, isStored: Bool = false
    ) -> ChallengeStep {
        guard let side = AuthenticationSide(status: head.status),
            answersChallenges(side, fetch), let origin = origin(of: side, fetch)
        else { return .deliver }
        // What comes out of a tunnel is the server's, a 407 too: it has no business with the proxy's credentials.
        guard side == .proxy ? isOfTunnel == isTunnelled(fetch) : !isOfTunnel else { return .deliver }
        // A proxy that hands on a challenge has nothing against us.
        if side == .server, !isStored { learn(.proxy, head, fetch) }
        let authentication = authentication(side, of: fetch)
        if var state = authentication[side], !state.isBegun {
            state.isBegun = true
            _ = state.search.began(fetch.engine.target, at: origin, entries: [])
            authentication[side] = state
        }
        let challenges = ChallengeList(head.fields, from: side)
        let attempts = authentication[side]?.search.attempts
        guard
            let step = authentication[side]?.search.challenged(
                by: challenges, sentNonce: authentication[side]?.proof?.nonce)
        else { return .deliver }
        let isRefusal = authentication[side]?.search.attempts != attempts
        tellChallenge(challenges, from: side, isRefusal: isRefusal, fetch)
        if isRefusal, let subject = authentication.proving, subject.space.side == side {
            authentication.proving = nil
            broker.refused(subject, by: fetch.engine.key)
        }
        if let forgotten = step.forgotten { credentials.forget(forgotten) }
        authentication.head = head
        let next = prepare(step.action, side, fetch, authentication)
        // Nobody is asked any more, and the body of the challenge may take its time.
        if next == .deliver { leaveQuestions(of: fetch) { $0.space.side == side } }
        return next
    }

    /// Looks where it can be looked at once; what takes longer, and what is sent, is for when the hop is over.
    mutating func prepare(
        _ action: CredentialSearch.Action, _ side: AuthenticationSide, _ fetch: RunningFetch,
        _ authentication: FetchAuthentication
    ) -> ChallengeStep {
        var action = action
        while true {
            switch action {
            case .deliver, .none:
                authentication[side]?.proposal = nil
                return .deliver
            case .send(let proposal):
                authentication.next = .send(side, proposal)
                return .goOn
            case .ask(let source, let candidate, let failures):
                guard let answer = lookUp(source, candidate, fetch) else {
                    authentication.next = .ask(side, source, candidate, failures: failures)
                    return .goOn
                }
                action = authentication[side]?.search.answered(answer) ?? .none
            case .giveUp(let reason):
                tellEnd(reason, side, fetch)
                guard let error = refusal(reason, side, fetch, authentication) else { return .deliver }
                authentication.next = .fail(error)
                return .goOn
            }
        }
    }

    /// What sources at hand have; nil for one that has to be asked.
    private func lookUp(
        _ source: CredentialSource, _ candidate: ChallengeCandidate, _ fetch: RunningFetch
    ) -> CredentialSearch.Answer? {
        switch source {
        case .explicit, .url: return CredentialSearch.Answer.none
        case .session:
            guard let found = credentials.entry(for: candidate.space),
                fetch.engine.authentication?[candidate.space.side]?.search.takes(found) == true
            else { return CredentialSearch.Answer.none }
            return .use(found.credentials)
        case .netrc:
            let found = fetch.plan.terms.authentication.netrc?.credentials(
                for: candidate.space.origin.host, user: fetch.engine.authentication?.server?.search.named?.user)
            return found.map { .use($0) } ?? CredentialSearch.Answer.none
        case .vault, .decision, .prompt: return nil
        }
    }

    /// Why the fetch fails when there are no credentials left; nil when the challenge is the answer.
    private func refusal(
        _ reason: CredentialSearch.Reason, _ side: AuthenticationSide, _ fetch: RunningFetch,
        _ authentication: FetchAuthentication
    ) -> FetchError? {
        let url = fetch.engine.target.text
        let who = side == .proxy ? "the proxy \(fetch.engine.way?.proxy?.text ?? "")" : "the server"
        if reason == .cancelled {
            return FetchError(.authenticationCancelled, "nobody wants to say who asks \(who)", url: url)
        }
        let terms = fetch.plan.terms.authentication
        if terms.delivers { return nil }
        let search = authentication[side]?.search
        let beginning = fetch.beginning
        let isGiven =
            switch side {
            case .server: beginning.terms.authentication.explicit != nil || beginning.target.user != nil
            case .proxy: fetch.engine.way?.proxy?.credentials != nil
            }
        // Where nobody had anything to do with credentials, it is a response like any other.
        let isInvolved =
            (search?.attempts ?? 0) > 0 || isGiven
            || !policy(side, fetch).sources.isDisjoint(with: [.decision, .prompt, .vault])
        if !isInvolved { return nil }
        let detail =
            switch reason {
            case .noCredentials: "\(who) wants credentials, and there are none"
            case .refused: "\(who) refused the credentials"
            case .tooManyAttempts: "\(who) refused credentials too often"
            case .noUsableScheme: "\(who) offers no scheme that is allowed here"
            case .cancelled: ""
            }
        return FetchError(side.refusal, detail, url: url)
    }

    private func policy(_ side: AuthenticationSide, _ fetch: RunningFetch) -> SearchPolicy {
        let terms = fetch.plan.terms.authentication
        guard side == .proxy, let way = fetch.engine.way else { return terms.policy(for: fetch) }
        return terms.policy(for: fetch, through: way)
    }
}

extension AuthenticationSide {
    /// The error of a fetch that has no credentials left.
    var refusal: FetchError.Code { self == .server ? .authentication : .proxyAuthentication }
}
