import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// What a program decides about servers' certificates (ASI-TLS-04).
extension Supervisor {
    /// A worker stopped before a request whose server has to be accepted. One fetch asks; others that meet the same
    /// certificate wait for what it is told.
    ///
    /// - Returns: Whether the fetch goes on or waits; else it failed.
    mutating func decidesAboutTrust(_ failure: HopFailure, _ fetch: RunningFetch) -> Bool {
        guard let own = failure.certificates.first else { return false }
        let origin = fetch.engine.target.origin
        let subject = TrustSubject(origin: origin, certificate: own)
        let decided = programQuestions.decided(about: origin)
        if decided.settles(failure, about: own) {
            // Decided since the hop was leased. A worker that was told and stops all the same breaks the rules.
            guard fetch.engine.trusted != decided else { return false }
            begin(fetch, front: true)
            return true
        }
        // Nobody to ask: the rules hold, as its worker was told.
        guard let decisions = decider(of: fetch) else { return false }
        release(fetch, .promote)
        let number = programQuestions.nextNumber()
        openQuestion(OpenQuestion(number: number, about: .trust), of: fetch)
        let waiter = TrustWaiter(fetch: fetch.engine.key, question: number, failure: failure)
        guard programQuestions.wait(waiter, for: subject) else { return true }
        let problem = failure.kind == .tlsUndecided ? nil : FetchError(failure, fetch: fetch)
        let trust = ServerTrust(origin, failure.certificates, problem: problem)
        let (mailbox, limit) = (mailbox, configuration.decisionTimeout)
        Task {
            let answer = await ProgramAnswer.about("the certificate", nil, within: limit) {
                try await decisions.trust(trust)
            }
            mailbox.post(.trustDecided(subject, answer))
        }
        return true
    }

    /// The program has decided, or has not in time.
    mutating func trustDecided(_ subject: TrustSubject, _ answer: Result<TrustChoice, FetchError>) {
        for waiter in programQuestions.takeWaiters(for: subject) {
            guard let fetch = fetches[waiter.fetch], fetch.engine.question?.number == waiter.question,
                !fetch.engine.life.isAnswered
            else { continue }
            withdrawQuestion(fetch)
            switch answer {
            case .success(.accept):
                programQuestions.accept(subject)
                begin(fetch, front: true)
            case .success(.asVerified) where waiter.failure.kind == .tlsUndecided:
                // By the rules of this fetch: another's may have something against it.
                programQuestions.leaveToRules(subject)
                begin(fetch, front: true)
            case .success: conclude(fetch, FetchError(waiter.failure, fetch: fetch))
            case .failure(let error):
                conclude(fetch, FetchError(error.code, error.detail, url: fetch.engine.target.text))
            }
        }
    }
}

extension DecidedCertificate {
    /// Whether no more is to be asked about a certificate that a worker stopped at.
    fileprivate func settles(_ failure: HopFailure, about own: [UInt8]) -> Bool {
        switch self {
        case .undecided: false
        case .accepted(let certificate): certificate == own
        case .verified(let certificate): certificate == own && failure.kind == .tlsUndecided
        }
    }
}

/// A certificate that is being decided about.
struct TrustSubject: Sendable, Hashable {
    let origin: Origin
    /// In DER form.
    let certificate: [UInt8]
}

/// A fetch that waits for a decision about a certificate.
struct TrustWaiter: Sendable {
    let fetch: FetchKey
    let question: UInt64
    let failure: HopFailure
}
