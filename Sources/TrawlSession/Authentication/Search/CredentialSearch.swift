package import TrawlHTTP

/// The search of one fetch for credentials, towards servers or towards proxies.
///
/// A fetch has one for each side, so that neither side's refusals count for the other. Time does not pass while
/// somebody is asked. What was refused once is not proposed again in the fetch, whatever the scheme: a password refused
/// by Digest is not given away by Basic. What the session, netrc or a vault has counts only when it is the user's whom
/// the request or its URL names. Their credentials are gone for good once a redirect has left their origin; whom they
/// name stays, so that at the host of that origin the fetch becomes nobody else, however it gets there.
package struct CredentialSearch: Sendable {
    private struct Question {
        var candidates: [ChallengeCandidate]
        var source: CredentialSource
        /// The candidate that is asked about.
        var index: Int
    }

    private enum State {
        /// Nothing was sent that could be refused.
        case idle
        case sent(Proposal)
        case asking(Question)
    }

    /// The nonces of Digest in a row that may turn out too old. More often than once is bad luck already.
    private static let maxRenewals = 3

    /// Whom it is about.
    package let side: AuthenticationSide
    /// How many credentials were refused.
    package private(set) var attempts = 0
    /// The space of the last challenge, for people to see.
    package private(set) var lastSpace: ProtectionSpace?

    private let policy: SearchPolicy
    private let home: Origin
    /// Whom the request names.
    private let first: NamedUser?
    /// Whether a redirect has led away from home, maybe back since.
    private var hasLeftHome = false
    private var explicit: Credentials?
    private var url: Credentials?
    /// The user in the URL.
    private var user: String?
    /// What the session may have for whom the request names, although the request does not give it.
    private var meant: Set<Credentials.Kind> = []
    private var refused: Set<Credentials.Kind> = []
    private var rejected: Set<ProtectionSpace> = []
    private var rounds = 0
    private var renewals = 0
    private var origin: Origin
    private var target: TargetURI?
    private var state = State.idle

    /// A search that has found nothing yet.
    ///
    /// - Parameters:
    ///   - home: The server or proxy the request names, to which `explicit` and `url` belong.
    ///   - explicit: Credentials given with the request.
    ///   - url: Credentials in the URL the caller gave; never those of a `Location`.
    ///   - user: The user in that URL, when its password is to be found elsewhere.
    ///   - hasLeftHome: Whether a redirect has led away from there before the search begins.
    package init(
        side: AuthenticationSide, policy: SearchPolicy, home: Origin, explicit: Credentials? = nil,
        url: Credentials? = nil, user: String? = nil, hasLeftHome: Bool = false
    ) {
        self.side = side
        self.policy = policy
        self.home = home
        self.explicit = policy.sources.contains(.explicit) ? explicit : nil
        self.url = policy.sources.contains(.url) ? url : nil
        self.user = policy.sources.contains(.url) ? user : nil
        first = NamedUser(explicit: self.explicit, url: self.url, user: self.user)
        origin = home
        if hasLeftHome { leftHome() }
    }

    /// The fetch begins anew, and this is its new search: what was refused stays refused, and counts.
    package mutating func takeOver(_ earlier: CredentialSearch) {
        attempts = earlier.attempts
        refused = earlier.refused
        rejected = earlier.rejected
        lastSpace = earlier.lastSpace
    }

    /// A redirect has led away from home: what the request gave does not come back, wherever the next ones lead.
    package mutating func leftHome() {
        guard !hasLeftHome else { return }
        hasLeftHome = true
        meant = []
        explicit = nil
        url = nil
        user = nil
    }

    /// A hop begins.
    ///
    /// - Parameters:
    ///   - target: What is requested.
    ///   - origin: The server or proxy it is requested from.
    ///   - entries: What the session store has for that origin.
    /// - Returns: What to send before a challenge, or nil.
    package mutating func began(_ target: TargetURI, at origin: Origin, entries: [SessionEntry]) -> Proposal? {
        // What somebody said was said to whoever asked.
        if origin != self.origin { meant = [] }
        self.target = target
        self.origin = origin
        state = .idle
        renewals = 0
        if origin != home { leftHome() }
        guard !policy.isByHand, let proposal = ahead(of: target, entries) else { return nil }
        state = .sent(proposal)
        return proposal
    }

    private func ahead(of target: TargetURI, _ entries: [SessionEntry]) -> Proposal? {
        let own = explicit ?? url
        // What is known to work by a stronger scheme is not given away by Basic.
        if policy.basicAhead == .always, own != nil, let known = remembered(own, for: target, entries),
            known.scheme != .basic
        {
            return known
        }
        if let own, !refused.contains(own.kind) {
            // A token is sent because it is there (RFC 6750 §2.1); a password only when nothing but Basic will do.
            let scheme: AuthenticationScheme? =
                switch own.kind {
                case .bearer: .bearer
                case .password: sendsBasicAhead ? .basic : nil
                case .ticket: nil
                }
            if let scheme, policy.rules.allows(scheme, with: origin) {
                return Proposal(
                    credentials: own, source: explicit == nil ? .url : .explicit, scheme: scheme, space: nil,
                    digest: nil, isAhead: true)
            }
        }
        return remembered(own, for: target, entries)
    }

    private var sendsBasicAhead: Bool {
        switch policy.basicAhead {
        case .never: false
        case .whenAlone: policy.rules.allowed == .basic
        case .always: true
        }
    }

    /// What the session says to send ahead.
    private func remembered(_ own: Credentials?, for target: TargetURI, _ entries: [SessionEntry]) -> Proposal? {
        guard policy.sendsAhead, policy.sources.contains(.session) else { return nil }
        let named = named
        let entry = SessionEntry.best(of: entries, for: target) { entry in
            guard entry.space.side == side, entry.space.origin == origin,
                policy.rules.allows(entry.space.scheme, with: origin), !refused.contains(entry.credentials.kind),
                !isLeftBehind(entry.credentials, .session)
            else { return false }
            if entry.named == named { return true }
            // Credentials of the request are meant, not others that happen to be there.
            if let own { return entry.credentials.provesSame(as: own) }
            return named?.allows(entry.credentials, from: .session) ?? true
        }
        return entry.map {
            Proposal(
                credentials: $0.credentials, source: .session, scheme: $0.space.scheme, space: $0.space, digest: nil,
                isAhead: true)
        }
    }

    /// A response came that challenges: 401 or 407 by the side.
    ///
    /// - Parameter sentNonce: The nonce the request was proved with, when it was by Digest.
    package mutating func challenged(by challenges: ChallengeList, sentNonce: [UInt8]? = nil) -> Step {
        if case .asking = state { return Step(forgotten: nil, action: .none) }
        // A 401 without a challenge asks for nothing (RFC 9110 §15.5.2 requires one; there are servers without).
        guard !policy.isByHand, !challenges.isEmpty else {
            state = .idle
            return Step(forgotten: nil, action: .deliver)
        }
        let candidates = unrejected(policy.rules.candidates(challenges, from: side, of: origin))
        lastSpace = candidates.first?.space ?? lastSpace
        var forgotten: SessionEntry?
        rounds += 1
        if case .sent(let proposal) = state {
            state = .idle
            if let renewed = renewal(of: proposal, candidates, sentNonce) {
                renewals += 1
                state = .sent(renewed)
                return Step(forgotten: nil, action: .send(renewed))
            }
            if isRefused(proposal, challenges, candidates) {
                attempts += 1
                refused.insert(proposal.credentials.kind)
                if proposal.source == .session, let space = proposal.space {
                    forgotten = SessionEntry(space: space, credentials: proposal.credentials, scope: nil)
                }
            }
        }
        return Step(forgotten: forgotten, action: next(candidates))
    }

    /// Without those somebody rejected, and without weaker ones of the same space.
    private func unrejected(_ candidates: [ChallengeCandidate]) -> [ChallengeCandidate] {
        var seen = rejected
        return candidates.filter { seen.insert($0.space).inserted }
    }

    /// The same credentials with a new nonce, or nil when that is not what the server wants.
    private func renewal(
        of proposal: Proposal, _ candidates: [ChallengeCandidate], _ sentNonce: [UInt8]?
    ) -> Proposal? {
        guard proposal.scheme == .digest, renewals < Self.maxRenewals,
            let candidate = candidates.first(where: { $0.space == proposal.space }), let digest = candidate.digest,
            let sentNonce, digest.nonce != sentNonce
        else { return nil }
        // RFC 7616 §3.3: `stale` means that only the nonce was wrong. Of one sent ahead that is likely too when a
        // server does not say so: it may have started anew and know no nonce of before.
        guard digest.isStale || proposal.isAhead else { return nil }
        return Proposal(
            credentials: proposal.credentials, source: proposal.source, scheme: .digest, space: proposal.space,
            digest: digest, isAhead: false)
    }

    /// Whether the server has looked at what was sent. Of credentials sent ahead by their path it has not when it asks
    /// for another realm.
    private func isRefused(
        _ proposal: Proposal, _ challenges: ChallengeList, _ candidates: [ChallengeCandidate]
    ) -> Bool {
        guard proposal.isAhead else { return true }
        guard let space = proposal.space else {
            // Whoever wants another scheme, by which the same credentials could be sent, has not looked at them.
            return challenges.challenges.contains { $0.scheme == proposal.scheme }
                || !candidates.contains { $0.takes(proposal.credentials) }
        }
        // A space of no known realm is meant by any challenge of its scheme.
        return candidates.contains { $0.space == space || space.realm == nil && $0.scheme == space.scheme }
    }

    private mutating func next(_ candidates: [ChallengeCandidate]) -> Action {
        guard attempts < policy.maxAttempts, rounds <= 4 * policy.maxAttempts else { return .giveUp(.tooManyAttempts) }
        guard !candidates.isEmpty else { return .giveUp(.noUsableScheme) }
        return search(Question(candidates: candidates, source: .explicit, index: 0))
    }

    /// Goes through the sources, and in each through the candidates, strongest first.
    private mutating func search(_ start: Question) -> Action {
        var question = start
        while true {
            if policy.sources.contains(question.source), let action = look(&question) { return action }
            guard let source = CredentialSource(rawValue: question.source.rawValue + 1) else { break }
            question.source = source
            question.index = 0
        }
        if let action = guess(for: question) { return action }
        state = .idle
        return .giveUp(attempts == 0 ? .noCredentials : .refused)
    }

    /// An empty password for a user in the URL that nobody has one for, as curl sends it; nil when it was tried.
    private mutating func guess(for question: Question) -> Action? {
        guard explicit == nil, url == nil, let user else { return nil }
        return propose(
            Credentials(user: user, password: ""),
            from: Question(candidates: question.candidates, source: .url, index: 0))
    }

    /// What a source is to do; nil when it has nothing for any candidate.
    private mutating func look(_ question: inout Question) -> Action? {
        switch question.source {
        case .explicit, .url:
            let own = question.source == .explicit ? explicit : url
            return own.flatMap { propose($0, from: question) }
        case .netrc:
            // It knows hosts and passwords, and nothing of realms: asked once.
            guard question.index == 0, side == .server,
                let index = question.candidates.firstIndex(where: { $0.scheme != .bearer })
            else { return nil }
            question.index = index
        case .session, .vault, .decision, .prompt:
            guard question.index < question.candidates.count else { return nil }
        }
        state = .asking(question)
        return .ask(question.source, question.candidates[question.index], failures: attempts)
    }

    /// Sends credentials by the strongest scheme they are for; nil when there is none or they were refused.
    private mutating func propose(_ credentials: Credentials, from question: Question) -> Action? {
        guard !refused.contains(credentials.kind), isMeant(credentials, question.source) else { return nil }
        // The one that was asked about comes first, and those that the credentials are for before others that take
        // them.
        let candidates = question.candidates[question.index...] + question.candidates[..<question.index]
        guard
            let candidate = candidates.first(where: { $0.isMeant(for: credentials) })
                ?? candidates.first(where: { $0.takes(credentials) })
        else { return nil }
        let proposal = Proposal(
            credentials: credentials, source: question.source, scheme: candidate.scheme, space: candidate.space,
            digest: candidate.digest, isAhead: false)
        meant.insert(credentials.kind)
        state = .sent(proposal)
        return .send(proposal)
    }

    /// Whom the request names there where the fetch is now.
    ///
    /// A user is one of a host, not of one of its ports or schemes alone. To another host the name says nothing: what
    /// the session has there is of a log-in to that host, and serves the fetch as it serves one that begins there, since
    /// each hop's request is made for its own URL (ASI-RED-10).
    package var named: NamedUser? { hasLeftHome && origin.host != home.host ? nil : first }

    /// Whether credentials are those of the request, which it has left behind, and nobody was asked for this origin who
    /// knows them.
    ///
    /// What is requested of its host after a redirect was chosen by another server, which must not choose what the secret
    /// is said with. That it worked before, or stands in netrc for all ports of a host, is not the caller's word that it
    /// may.
    private func isLeftBehind(_ credentials: Credentials, _ source: CredentialSource) -> Bool {
        guard hasLeftHome, let named, named.gives(credentials) else { return false }
        switch source {
        case .explicit, .url, .netrc: return true
        case .session: return !meant.contains(credentials.kind)
        case .vault, .decision, .prompt: return false
        }
    }

    /// Whether credentials of a source are not somebody else's than the request names (ASI-AUTH-09).
    private func isMeant(_ credentials: Credentials, _ source: CredentialSource) -> Bool {
        if isLeftBehind(credentials, source) { return false }
        guard let named else { return true }
        return named.allows(credentials, from: source) || source == .session && meant.contains(credentials.kind)
    }

    /// Whether what the session has is worth trying: it was not refused, and is not somebody else's.
    package mutating func takes(_ entry: SessionEntry) -> Bool {
        guard policy.sources.contains(.session), !refused.contains(entry.credentials.kind),
            !isLeftBehind(entry.credentials, .session)
        else { return false }
        // Somebody who was asked on behalf of who names the same said so.
        if entry.named == named { meant.insert(entry.credentials.kind) }
        return isMeant(entry.credentials, .session)
    }

    /// Somebody who was asked has answered.
    package mutating func answered(_ answer: Answer) -> Action {
        guard case .asking(var question) = state else { return .none }
        switch answer {
        case .use(let credentials):
            if let action = propose(credentials, from: question) { return action }
            guard question.source.isAsked else { break }
            // Once more, with one failure more, so that it ends.
            attempts += 1
            guard attempts < policy.maxAttempts else {
                state = .idle
                return .giveUp(.tooManyAttempts)
            }
            return .ask(question.source, question.candidates[question.index], failures: attempts)
        case .none:
            // Who leaves it to others leaves all of it.
            if question.source.isAsked { question.index = question.candidates.count }
        case .rejectSpace:
            rejected.insert(question.candidates[question.index].space)
            question.candidates.remove(at: question.index)
            question.index -= 1
            if question.candidates.isEmpty {
                state = .idle
                return .giveUp(attempts == 0 ? .noCredentials : .refused)
            }
        case .cancel:
            state = .idle
            return .giveUp(.cancelled)
        }
        question.index += 1
        return search(question)
    }

    /// A response came that does not challenge on this side.
    ///
    /// - Parameter kept: What the session store has for whoever was spoken to.
    package mutating func accepted(status: UInt16, kept: [SessionEntry] = []) -> Acceptance {
        guard case .sent(let proposal) = state else { return .unjudged }
        // A proxy's answer says nothing about the server, and a failure nothing about anybody.
        guard status != side.status, side == .proxy || status != 407, status < 500 else { return .unjudged }
        state = .idle
        renewals = 0
        let credentials = proposal.credentials
        let usesSession = policy.sources.contains(.session)
        // What came out of the vault, or out of a session that has it from there, is no news to it: whoever removed it
        // meanwhile wants it removed.
        let isForVault =
            credentials.persistence == .permanent && proposal.source != .vault && proposal.source != .session
        guard usesSession ? credentials.persistence != .none : isForVault, credentials.kind != .ticket,
            let target, !(proposal.isAhead && proposal.source == .session)
        else { return .nothing }
        let space =
            proposal.space
            ?? ProtectionSpace(side: side, origin: origin, scheme: proposal.scheme, realm: nil)
        // Most have worked before, and for this place.
        let named = named
        let isKnown =
            !isForVault
            && kept.contains {
                $0.space == space && $0.credentials.provesSame(as: credentials) && $0.named == named
                    && $0.scope?.depth(of: target) != nil
            }
        if isKnown { return .nothing }
        let entry = SessionEntry(
            space: space, credentials: credentials,
            scope: PreemptionScope(space, for: target, digest: proposal.digest), named: named)
        return usesSession ? .keep(entry, permanently: isForVault) : .save(entry)
    }
}
