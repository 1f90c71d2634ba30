import TrawlCrypto
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlSupervision

/// Who a fetch is made as: what a hop says of itself, what is done about a challenge, and what is learned from an answer.
extension Supervisor {
    // MARK: - Before a hop

    /// A hop begins: whatever is said to its server without being asked for is settled.
    ///
    /// - Returns: Why the fetch fails, when it was given credentials that cannot be sent.
    mutating func settleCredentials(of fetch: RunningFetch) -> FetchError? {
        let terms = fetch.plan.terms.authentication
        guard terms.isOn else { return nil }
        let target = fetch.engine.target
        if fetch.engine.authentication?.server == nil {
            // Most fetches have nothing to say, and nobody asks them.
            let isOwn = !fetch.engine.hasLeftOrigin && terms.maySendOwnAhead(for: target)
            guard isOwn || (terms.readsSession && !credentials.isEmpty(.server)), !fetch.isByHand else { return nil }
        }
        return begin(.server, fetch).map {
            FetchError(.authentication, $0.explanation, url: target.text)
        }
    }

    /// What is said to one side, which may be nothing yet.
    func authentication(_ side: AuthenticationSide, of fetch: RunningFetch) -> FetchAuthentication {
        let authentication = fetch.engine.authentication ?? FetchAuthentication()
        fetch.engine.authentication = authentication
        if authentication[side] == nil {
            authentication[side] = side == .server ? serverSide(fetch) : proxySide(fetch)
        }
        return authentication
    }

    private func serverSide(_ fetch: RunningFetch) -> FetchAuthentication.Side {
        let terms = fetch.plan.terms.authentication
        var policy = terms.policy(for: fetch)
        policy.isByHand = fetch.isByHand
        // Credentials of the request and its URL belong to where the fetch began.
        let isHome = !fetch.engine.hasLeftOrigin
        let home = fetch.plan.target.origin
        return FetchAuthentication.Side(
            CredentialSearch(
                side: .server, policy: policy, home: home, explicit: isHome ? terms.explicit : nil,
                url: isHome ? terms.url(of: fetch.plan.target) : nil), home: home)
    }

    /// Tells one search that the hop begins, once.
    ///
    /// - Returns: What is wrong with credentials that were given and cannot be sent.
    mutating func begin(_ side: AuthenticationSide, _ fetch: RunningFetch) -> CredentialsFault? {
        let authentication = authentication(side, of: fetch)
        guard var state = authentication[side], !state.isBegun, let origin = origin(of: side, fetch) else { return nil }
        state.isBegun = true
        let proposal = state.search.began(
            fetch.engine.target, at: origin, entries: credentials.entries(of: origin, side))
        authentication[side] = state
        guard case .failure(let fault) = say(proposal, side, authentication) else { return nil }
        _ = say(nil, side, authentication)
        // What the session has is asked for; what the caller gave is wrong, as it is when it answers a challenge.
        return proposal?.source == .session ? nil : fault
    }

    /// Who asks on a side; nil when nobody can.
    private func origin(of side: AuthenticationSide, _ fetch: RunningFetch) -> Origin? {
        side == .server ? fetch.engine.target.origin : proxyOrigin(fetch)
    }

    // MARK: - Challenges

    /// Whether challenges of a side may be answered.
    func answersChallenges(_ side: AuthenticationSide, _ fetch: RunningFetch) -> Bool {
        guard fetch.engine.authentication?.deliversNext != side else { return false }
        switch side {
        case .server: return fetch.plan.terms.authentication.isOn && !fetch.isByHand
        case .proxy: return answersProxy(fetch)
        }
    }

    /// Whether the worker is to rest at a challenge, since it may be answered.
    func answersChallenges(_ fetch: RunningFetch) -> Bool {
        answersChallenges(.server, fetch) || answersChallenges(.proxy, fetch)
    }

    /// Whether a head of that status may be a challenge that is answered.
    func answersChallenge(_ status: UInt16, _ fetch: RunningFetch) -> Bool {
        guard let side = AuthenticationSide.allCases.first(where: { $0.status == status }) else { return false }
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
    /// - Parameter isOfTunnel: Whether it is what a proxy answered to CONNECT.
    mutating func meet(
        _ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch, isOfTunnel: Bool = false
    ) -> ChallengeStep {
        guard let side = AuthenticationSide.allCases.first(where: { $0.status == head.status }),
            answersChallenges(side, fetch), let origin = origin(of: side, fetch)
        else { return .deliver }
        // What comes out of a tunnel is the server's, a 407 too: it has no business with the proxy's credentials.
        guard side == .proxy ? isOfTunnel == isTunnelled(fetch) : !isOfTunnel else { return .deliver }
        // A proxy that hands on a challenge has nothing against us.
        if side == .server { learn(.proxy, head, fetch) }
        let authentication = authentication(side, of: fetch)
        if var state = authentication[side], !state.isBegun {
            state.isBegun = true
            _ = state.search.began(fetch.engine.target, at: origin, entries: [])
            authentication[side] = state
        }
        guard
            let step = authentication[side]?.search.challenged(
                by: ChallengeList(head.fields, from: side), sentNonce: authentication[side]?.proof?.nonce)
        else { return .deliver }
        if let forgotten = step.forgotten { credentials.forget(forgotten) }
        authentication.head = head
        return prepare(step.action, side, fetch, authentication)
    }

    /// Looks where it can be looked at once; what takes longer, and what is sent, is for when the hop is over.
    private mutating func prepare(
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
            guard let found = credentials.credentials(for: candidate.space) else { return CredentialSearch.Answer.none }
            return .use(found)
        case .netrc:
            let user = fetch.plan.target.password == nil ? fetch.plan.target.user : nil
            let found = fetch.plan.terms.authentication.netrc?.credentials(
                for: candidate.space.origin.host, user: fetch.engine.hasLeftOrigin ? nil : user)
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
        let isGiven =
            switch side {
            case .server: terms.explicit != nil || fetch.plan.target.user != nil
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
        guard side == .proxy, let proxies = fetch.engine.way?.terms else {
            return terms.policy(for: fetch)
        }
        return terms.policy(for: fetch, through: proxies)
    }

    // MARK: - After a hop

    /// The hop of a challenge is over: the fetch goes on as was found out at its head.
    ///
    /// - Returns: Whether it does; false when nothing was to follow.
    mutating func answersChallenge(_ fetch: RunningFetch) -> Bool {
        guard fetch.engine.authentication?.next != nil else { return false }
        // The next of those that waited takes its place; they do not need credentials, or need them as well.
        release(fetch, .promote)
        return goOn(fetch)
    }

    /// Does what was found out at the head of a challenge.
    ///
    /// - Returns: Whether there was something.
    mutating func goOn(_ fetch: RunningFetch) -> Bool {
        guard let authentication = fetch.engine.authentication, let next = authentication.next else { return false }
        authentication.next = nil
        switch next {
        case .send(let side, let proposal): send(proposal, side, fetch, authentication)
        case .ask(let side, let source, let candidate, let failures):
            ask(source, candidate, failures, side, fetch, authentication)
        case .fail(let error): answer(fetch, with: .failure(error))
        }
        return true
    }

    /// Does what the search says, once its hop is over.
    mutating func act(
        on action: CredentialSearch.Action, _ side: AuthenticationSide, _ fetch: RunningFetch,
        _ authentication: FetchAuthentication
    ) {
        switch prepare(action, side, fetch, authentication) {
        case .goOn: _ = goOn(fetch)
        case .deliver:
            // Its body was given up when somebody was to be asked: the challenge is fetched once more.
            authentication.deliversNext = side
            authentication[side]?.clear()
            begin(fetch, front: true)
        }
    }

    private mutating func send(
        _ proposal: CredentialSearch.Proposal, _ side: AuthenticationSide, _ fetch: RunningFetch,
        _ authentication: FetchAuthentication
    ) {
        if case .failure(let fault) = say(proposal, side, authentication) {
            return answer(
                fetch, with: .failure(FetchError(side.refusal, fault.explanation, url: fetch.engine.target.text)))
        }
        authentication[side]?.rounds += 1
        if let channel = fetch.channel, let report = authentication[side]?.report, let head = authentication.head {
            channel.post(.authenticating(report, Response.ResponseHead(head)))
        }
        fetch.engine.passesStoreOver = false
        fetch.engine.mayJoin = true
        begin(fetch, front: true)
    }

    /// A head came that is the answer or a redirect: what was said was right, as far as it says anything about that.
    mutating func learn(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) {
        guard fetch.engine.authentication != nil else { return }
        for side in AuthenticationSide.allCases { learn(side, head, fetch) }
    }

    /// A head came that is no challenge of that side, or not one that is answered: what was said was right.
    mutating func learn(_ side: AuthenticationSide, _ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) {
        guard let authentication = fetch.engine.authentication, let proposal = authentication[side]?.proposal else {
            return
        }
        // That anything comes out of a tunnel says that it was granted, and nothing in it is the proxy's word.
        let isTunnelled = side == .proxy && isTunnelled(fetch)
        guard isTunnelled || head.status != side.status else { return }
        if let proof = authentication[side]?.proof {
            if !isTunnelled { credentials.finish(proof, of: proposal, head.fields, from: side) }
            authentication[side]?.proof = nil
        }
        switch authentication[side]?.search.accepted(status: isTunnelled ? 200 : head.status) ?? .nothing {
        case .nothing: break
        case .keep(let entry, let permanently):
            credentials.keep(entry)
            if permanently { saveInVault(entry) }
        }
        if let space = authentication.proving, space.side == side {
            authentication.proving = nil
            perform(broker.proved(space, by: fetch.engine.key), for: space)
        }
    }

    /// A redirect leads on: the next hop says what belongs there.
    func turnCredentials(_ fetch: RunningFetch) {
        guard let authentication = fetch.engine.authentication else { return }
        for side in AuthenticationSide.allCases {
            authentication[side]?.isBegun = false
            authentication[side]?.clear()
        }
    }
}

extension AuthenticationSide {
    /// The error of a fetch that has no credentials left.
    fileprivate var refusal: FetchError.Code { self == .server ? .authentication : .proxyAuthentication }
}
