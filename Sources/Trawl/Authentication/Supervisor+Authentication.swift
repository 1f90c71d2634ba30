import TrawlCrypto
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlSupervision

/// Who a fetch is made as: what a hop says of itself, what is done about a challenge, and what is learned from an answer.
extension Supervisor {
    // MARK: - Before a hop

    /// A hop begins: whatever is said without being asked for is settled.
    ///
    /// - Returns: Why the fetch fails, when it was given credentials that cannot be sent.
    mutating func settleCredentials(of fetch: RunningFetch) -> FetchError? {
        let terms = fetch.plan.terms.authentication
        guard terms.isOn else { return nil }
        let target = fetch.engine.target
        if fetch.engine.authentication == nil {
            // Most fetches have nothing to say, and nobody asks them.
            let isOwn = !fetch.engine.hasLeftOrigin && terms.maySendOwnAhead(for: target)
            guard isOwn || (terms.readsSession && !credentials.isEmpty), !fetch.isByHand else { return nil }
        }
        let authentication = fetch.engine.authentication ?? beginAuthentication(fetch)
        guard !authentication.isBegun else { return nil }
        authentication.isBegun = true
        return begin(.server, fetch, authentication)
    }

    private func beginAuthentication(_ fetch: RunningFetch) -> FetchAuthentication {
        let authentication = FetchAuthentication()
        fetch.engine.authentication = authentication
        let terms = fetch.plan.terms.authentication
        var policy = terms.policy(mayAsk: fetch.asksProgram)
        policy.isByHand = fetch.isByHand
        // Credentials of the request and its URL belong to where the fetch began.
        let isHome = !fetch.engine.hasLeftOrigin
        authentication.server = FetchAuthentication.Side(
            CredentialSearch(
                side: .server, policy: policy, home: fetch.plan.target.origin,
                explicit: isHome ? terms.explicit : nil, url: isHome ? terms.url(of: fetch.plan.target) : nil))
        return authentication
    }

    /// Tells one search that the hop begins.
    private func begin(
        _ side: AuthenticationSide, _ fetch: RunningFetch, _ authentication: FetchAuthentication
    ) -> FetchError? {
        guard var state = authentication[side], let origin = origin(of: side, fetch) else { return nil }
        let proposal = state.search.began(
            fetch.engine.target, at: origin, entries: credentials.entries(of: origin, side))
        authentication[side] = state
        guard case .failure(let fault) = say(proposal, side, authentication) else { return nil }
        _ = say(nil, side, authentication)
        // What the session has is asked for; what the caller gave is wrong, as it is when it answers a challenge.
        if proposal?.source == .session { return nil }
        return FetchError(.authentication, fault.explanation, url: fetch.engine.target.text)
    }

    /// Who asks on a side.
    private func origin(of side: AuthenticationSide, _ fetch: RunningFetch) -> Origin? {
        side == .server ? fetch.engine.target.origin : nil
    }

    /// Makes a proposal what the hop says.
    private func say(
        _ proposal: CredentialSearch.Proposal?, _ side: AuthenticationSide, _ authentication: FetchAuthentication
    ) -> Result<Void, CredentialsFault> {
        authentication[side]?.proposal = proposal
        authentication[side]?.proof = nil
        authentication[side]?.value = nil
        authentication[side]?.identity = nil
        guard let proposal else { return .success(()) }
        do throws(CredentialsFault) {
            switch proposal.scheme {
            case .basic: authentication[side]?.value = try BasicScheme.fieldValue(proposal.credentials)
            case .bearer: authentication[side]?.value = try BearerScheme.fieldValue(proposal.credentials)
            // Made anew for each lease: no count of a nonce is sent twice.
            case .digest: authentication[side]?.identity = Self.identity(of: proposal)
            // Said by libcurl, on a connection of its own.
            case .ntlm, .negotiate: authentication[side]?.identity = Self.identity(of: proposal)
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// What stands for user, password and realm in the cache, where only a keyed digest of it is kept.
    private static func identity(of proposal: CredentialSearch.Proposal) -> [UInt8]? {
        let (user, password): (String, Secret)
        switch proposal.credentials.kind {
        case .password(let name, let secret, let domain): (user, password) = (domain + "\\" + name, secret)
        case .ticket: (user, password) = ("", Secret(""))
        case .bearer: return nil
        }
        var text = Array(proposal.scheme.name.utf8)
        for part in [Array(user.utf8), proposal.space?.realm ?? [], Array(password.revealed.utf8)] {
            text += [0] + part
        }
        return text.withUnsafeBytes { MessageHash.sha256($0) }
    }

    /// Makes the fields that differ for each lease.
    mutating func prove(_ fetch: RunningFetch, _ fields: inout FieldLines) throws(CredentialsFault) {
        guard let authentication = fetch.engine.authentication else { return }
        for side in AuthenticationSide.allCases {
            guard let proposal = authentication[side]?.proposal, proposal.scheme == .digest else { continue }
            let request = DigestRequest(
                method: fetch.engine.method, target: Self.requestTarget(fetch.engine.target),
                bodyHash: bodyHash(of: fetch, proposal.digest))
            do throws(CredentialsFault) {
                let proof = try credentials.prove(request, by: proposal)
                authentication[side]?.proof = proof
                fields.setCredentials(proof.fieldValue, side)
            } catch {
                guard proposal.isAhead else { throw error }
                // Then it is asked for.
                _ = say(nil, side, authentication)
            }
        }
    }

    /// RFC 9112 §3.2.1: path and query, as the worker sends them.
    private static func requestTarget(_ target: TargetURI) -> [UInt8] {
        target.withPathAndQuery { path, query in
            guard let query else { return Array(path) }
            return Array(path) + [UInt8(ascii: "?")] + query
        }
    }

    /// RFC 7616 §3.4.3: only where the server insists on a digest of the body.
    private func bodyHash(of fetch: RunningFetch, _ challenge: DigestChallenge?) -> [UInt8]? {
        guard let challenge, challenge.protections == [.integrity],
            let function = DigestHashes.libcrypto.function(challenge.algorithm.hash)
        else { return nil }
        guard fetch.engine.sendsBody else { return function(UnsafeRawBufferPointer(start: nil, count: 0)) }
        switch fetch.plan.body {
        case .none: return function(UnsafeRawBufferPointer(start: nil, count: 0))
        case .inline(let bytes): return bytes.withUnsafeBytes(function)
        case .file(let body):
            guard let mapped = try? MappedBytes(body.file.descriptor, limit: .max) else { return nil }
            return mapped.withUnsafeBytes(function)
        }
    }

    /// Who the connection of a hop is opened as; nil for nobody.
    func login(of fetch: RunningFetch) -> ConnectionLogin? {
        guard let proposal = fetch.engine.authentication?.server?.proposal else { return nil }
        let scheme: ConnectionLogin.Scheme
        switch proposal.scheme {
        case .ntlm: scheme = .ntlm
        case .negotiate: scheme = .negotiate
        case .basic, .bearer, .digest: return nil
        }
        switch proposal.credentials.kind {
        case .password(let user, let password, let domain):
            return ConnectionLogin(
                scheme, user: domain.isEmpty ? user : domain + "\\" + user, password: password.revealed)
        case .ticket: return ConnectionLogin(scheme, user: "", password: "")
        case .bearer: return nil
        }
    }

    // MARK: - Challenges

    /// Whether the worker is to rest at a challenge, since it may be answered.
    func answersChallenges(_ fetch: RunningFetch) -> Bool {
        fetch.plan.terms.authentication.isOn && !fetch.isByHand && fetch.engine.authentication?.deliversNext != true
    }

    /// What to do about a head that challenges.
    enum ChallengeStep {
        /// It is the answer.
        case deliver
        /// The fetch goes on with `FetchAuthentication.next` when its hop is over.
        case goOn
    }

    /// A head came that may challenge.
    mutating func meet(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) -> ChallengeStep {
        guard let side = AuthenticationSide.allCases.first(where: { $0.status == head.status }),
            answersChallenges(fetch), origin(of: side, fetch) != nil
        else { return .deliver }
        // A proxy that hands on a challenge has nothing against us.
        if side == .server { learn(.proxy, head, fetch) }
        let authentication = fetch.engine.authentication ?? beginAuthentication(fetch)
        if !authentication.isBegun {
            authentication.isBegun = true
            guard var state = authentication[side], let origin = origin(of: side, fetch) else { return .deliver }
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
        let who = side == .proxy ? "the proxy" : "the server"
        if reason == .cancelled {
            return FetchError(.authenticationCancelled, "nobody wants to say who asks \(who)", url: url)
        }
        let terms = fetch.plan.terms.authentication
        if terms.delivers { return nil }
        let search = authentication[side]?.search
        // Where nobody had anything to do with credentials, it is a response like any other.
        let isInvolved =
            (search?.attempts ?? 0) > 0 || terms.explicit != nil || fetch.plan.target.user != nil
            || !terms.policy(mayAsk: fetch.asksProgram).sources.isDisjoint(with: [.decision, .prompt, .vault])
        if !isInvolved { return nil }
        let detail =
            switch reason {
            case .noCredentials: "\(who) wants credentials, and there are none"
            case .refused: "\(who) refused the credentials"
            case .tooManyAttempts: "\(who) refused credentials too often"
            case .noUsableScheme: "\(who) offers no scheme that is allowed here"
            case .cancelled: ""
            }
        return FetchError(.authentication, detail, url: url)
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
            authentication.deliversNext = true
            authentication[side]?.proposal = nil
            authentication[side]?.value = nil
            authentication[side]?.proof = nil
            begin(fetch, front: true)
        }
    }

    private mutating func send(
        _ proposal: CredentialSearch.Proposal, _ side: AuthenticationSide, _ fetch: RunningFetch,
        _ authentication: FetchAuthentication
    ) {
        if case .failure(let fault) = say(proposal, side, authentication) {
            return answer(
                fetch, with: .failure(FetchError(.authentication, fault.explanation, url: fetch.engine.target.text)))
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
        guard let authentication = fetch.engine.authentication, let proposal = authentication[side]?.proposal,
            head.status != side.status
        else { return }
        if let proof = authentication[side]?.proof {
            credentials.finish(proof, of: proposal, head.fields, from: side)
            authentication[side]?.proof = nil
        }
        switch authentication[side]?.search.accepted(status: head.status) ?? .nothing {
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
        authentication.isBegun = false
        authentication.server?.proposal = nil
        authentication.server?.value = nil
        authentication.server?.proof = nil
        authentication.server?.identity = nil
    }
}
