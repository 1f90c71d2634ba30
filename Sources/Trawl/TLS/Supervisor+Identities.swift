import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// What a program decides about who we are, by client certificates (ULS-AUTH-09).
extension Supervisor {
    /// Finds out which client certificate a hop has, where a program decides that. One fetch asks; others that go to
    /// the same origin wait for what it is told.
    ///
    /// - Returns: False when the hop waits for the answer.
    mutating func hasIdentity(_ fetch: RunningFetch, front: Bool) -> Bool {
        guard fetch.engine.terms.asksForIdentity, fetch.engine.target.isHTTPS else { return true }
        let origin = fetch.engine.target.origin
        if let chosen = programQuestions.chosen(for: origin) {
            if let chosen { fetch.engine.terms = planner.identified(fetch.engine.terms, by: chosen) }
            return true
        }
        // What never goes out shows nothing.
        guard !fetch.neverLoads, let decisions = decider(of: fetch) else { return true }
        withdrawQuestion(fetch)
        let number = programQuestions.nextNumber()
        openQuestion(OpenQuestion(number: number, about: .identity), of: fetch)
        let waiter = IdentityWaiter(fetch: fetch.engine.key, question: number, front: front)
        guard programQuestions.wait(waiter, for: origin) else { return false }
        let (mailbox, limit) = (mailbox, configuration.decisionTimeout)
        Task {
            let answer = await ProgramAnswer.about("the client certificate", nil, within: limit) {
                try await decisions.identity(for: IdentityQuestion(origin))
            }
            mailbox.post(.identityDecided(origin, answer))
        }
        return false
    }

    /// The program has chosen, or has not in time.
    mutating func identityDecided(_ origin: Origin, _ answer: Result<ClientIdentity?, FetchError>) {
        var failure: FetchError?
        switch answer {
        case .success(let identity):
            if let problem = identity?.problem {
                failure = FetchError(.badRequest, problem)
            } else {
                programQuestions.choose(identity, for: origin)
            }
        case .failure(let error): failure = error
        }
        for waiter in programQuestions.takeWaiters(for: origin) {
            guard let fetch = fetches[waiter.fetch], fetch.engine.question?.number == waiter.question,
                !fetch.engine.life.isAnswered
            else { continue }
            withdrawQuestion(fetch)
            if let failure {
                conclude(fetch, FetchError(failure.code, failure.detail, url: fetch.engine.target.text))
            } else {
                begin(fetch, front: waiter.front)
            }
        }
    }

    /// A server wants another certificate than it was shown, or the one chosen cannot be used: the next fetch asks
    /// again.
    mutating func noteIdentity(after failure: HopFailure, _ fetch: RunningFetch) {
        guard failure.kind == .tlsClientCertificate || failure.kind == .tlsClientCertificateRequired,
            fetch.engine.terms.options.tls.asksForIdentity,
            let chosen = programQuestions.chosen(for: fetch.engine.target.origin),
            chosen == fetch.engine.terms.options.tls.identity
        else { return }
        programQuestions.forgetChoice(for: fetch.engine.target.origin)
    }
}

/// A fetch that waits for a decision about a client certificate.
struct IdentityWaiter: Sendable {
    let fetch: FetchKey
    let question: UInt64
    let front: Bool
}
