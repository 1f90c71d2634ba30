import TrawlCrypto
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlSupervision

/// Who a fetch is made as: what a hop says of itself, how it goes on after a challenge, and what is learned from an
/// answer.
extension Supervisor {
    // MARK: - Before a hop

    /// A hop begins: whatever is said to its server without being asked for is settled.
    ///
    /// - Returns: Why the fetch fails, when it was given credentials that cannot be sent.
    mutating func settleCredentials(of fetch: RunningFetch) -> FetchError? {
        fetch.engine.settledCredentials = credentials.changes
        // Looked at in their place: they are large, and looked at for every hop.
        let terms = fetch.plan.terms
        guard terms.authentication.isOn else { return nil }
        if fetch.engine.authentication?.server == nil {
            // Most fetches have nothing to say, and nobody asks them.
            let isOwn =
                !fetch.engine.hasLeftOrigin && terms.authentication.maySendOwnAhead(for: fetch.firstTarget)
            let isKnown = terms.authentication.readsSession && !credentials.isEmpty(.server)
            guard isOwn || isKnown else { return nil }
        }
        guard fetch.saysWho else { return nil }
        return begin(.server, fetch).map {
            FetchError(.authentication, $0.explanation, url: fetch.engine.target.text)
        }
    }

    /// Settles it once more when the session's credentials have changed while the hop waited for its turn, so that it
    /// says what fetches that ended in that time have found, and nothing that the session has forgotten.
    ///
    /// - Returns: As `settleCredentials(of:)`.
    mutating func settleCredentialsAgain(of fetch: RunningFetch) -> FetchError? {
        // What is stored was found by what was settled.
        guard fetch.engine.settledCredentials != credentials.changes, !fetch.engine.isStoredHop else { return nil }
        let proposal = fetch.engine.authentication?.server?.proposal
        // An answer to a challenge stays, and so does what the caller gave.
        if let proposal, !proposal.isAhead || proposal.source != .session {
            fetch.engine.settledCredentials = credentials.changes
            return nil
        }
        fetch.engine.authentication?.server?.isBegun = false
        fetch.engine.authentication?.server?.clear()
        let error = settleCredentials(of: fetch)
        if fetch.engine.authentication?.server?.proposal != proposal { fetch.engine.isSettled = false }
        return error
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
        policy.isByHand = fetch.engine.isByHand
        // Credentials of the request and its URL belong to where the fetch began.
        let beginning = fetch.beginning
        return FetchAuthentication.Side(
            CredentialSearch(
                side: .server, policy: policy, home: fetch.home, explicit: beginning.terms.authentication.explicit,
                url: terms.url(of: beginning.target, policy), user: beginning.target.user,
                hasLeftHome: fetch.engine.hasLeftOrigin),
            home: fetch.home)
    }

    /// Tells one search that the hop begins, once.
    ///
    /// - Returns: What is wrong with credentials that were given and cannot be sent.
    mutating func begin(_ side: AuthenticationSide, _ fetch: RunningFetch) -> CredentialsFault? {
        let authentication = authentication(side, of: fetch)
        guard var state = authentication[side], !state.isBegun, let origin = origin(of: side, fetch) else { return nil }
        state.isBegun = true
        let proposal = state.search.began(
            fetch.engine.target, at: origin, entries: credentials.use(origin, side))
        authentication[side] = state
        if let proposal { tellProposal(proposal, to: side, fetch) }
        guard case .failure(let fault) = say(proposal, side, authentication) else { return nil }
        _ = say(nil, side, authentication)
        // What the session has is asked for; what the caller gave is wrong, as it is when it answers a challenge.
        return proposal?.source == .session ? nil : fault
    }

    /// Who asks on a side; nil when nobody can.
    func origin(of side: AuthenticationSide, _ fetch: RunningFetch) -> Origin? {
        side == .server ? fetch.engine.target.origin : proxyOrigin(fetch)
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
        tellProposal(proposal, to: side, fetch)
        authentication[side]?.rounds += 1
        if let channel = fetch.channel, let report = authentication[side]?.report, let head = authentication.head {
            channel.post(.authenticating(report, Response.ResponseHead(head)))
        }
        fetch.engine.passesStoreOver = false
        fetch.engine.mayJoin = true
        begin(fetch, front: true)
    }

    /// A head came from a server or proxy that is the answer or a redirect: what was said was right, as far as it says
    /// anything about that. What is stored says nothing, and does not come here.
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
        tellAnswer(head.status, from: side, fetch)
        var kept: [SessionEntry] = []
        if proposal.source != .session, let origin = origin(of: side, fetch) {
            kept = credentials.entries(of: origin, side)
        }
        let status = isTunnelled ? 200 : head.status
        let acceptance = authentication[side]?.search.accepted(status: status, kept: kept) ?? .unjudged
        switch acceptance {
        case .nothing, .unjudged: break
        case .keep(let entry, let permanently):
            credentials.keep(entry)
            if permanently { saveInVault(entry) }
        case .save(let entry): saveInVault(entry)
        }
        if let subject = authentication.proving, subject.space.side == side {
            authentication.proving = nil
            if acceptance != .unjudged { perform(broker.proved(subject, by: fetch.engine.key), for: subject) }
        }
        // What was not judged the next one tries; where others were found it asks, unless it finds them too.
        leaveQuestions(of: fetch) { $0.space.side == side }
    }

    /// A redirect leads on: the next hop says what belongs there.
    func turnCredentials(_ fetch: RunningFetch) {
        guard let authentication = fetch.engine.authentication else { return }
        for side in AuthenticationSide.allCases {
            authentication[side]?.isBegun = false
            authentication[side]?.clear()
        }
        // The search may hear of no hop in between: not of one that says by hand who it is made as.
        if fetch.engine.hasLeftOrigin { authentication.server?.search.leftHome() }
    }

    /// A fetch begins anew with its first hop, or its hop goes by `https`: the credentials of its request and its URL are
    /// its own again where it has not left their origin, and it is nobody whom other origins took it for.
    mutating func restartCredentials(of fetch: RunningFetch) {
        guard let authentication = fetch.engine.authentication else { return }
        turnCredentials(fetch)
        authentication.deliversNext = nil
        authentication.proving = nil
        if let earlier = authentication.server {
            var side = serverSide(fetch)
            side.search.takeOver(earlier.search)
            side.rounds = earlier.rounds
            authentication.server = side
        }
        // It may wait for long before it asks or proves anything again.
        leaveQuestions(of: fetch) { _ in true }
    }
}
