import TrawlHTTP
import TrawlPlatform
import TrawlSession

/// Questions that take time: to a vault, a program or a person. The fetch has given its place back, and its clock
/// stands.
extension Supervisor {
    /// Asks a source, or waits for what another fetch is told.
    mutating func ask(
        _ source: CredentialSource, _ candidate: ChallengeCandidate, _ failures: Int, _ side: AuthenticationSide,
        _ fetch: RunningFetch, _ authentication: FetchAuthentication
    ) {
        // Another fetch may have found them between this one's head and its end.
        if source != .vault, let found = credentials.entry(for: candidate.space),
            authentication[side]?.search.takes(found) == true
        {
            return act(
                on: authentication[side]?.search.answered(.use(found.credentials)) ?? .none, side, fetch,
                authentication)
        }
        questions += 1
        let subject = CredentialSubject(candidate.space, named: authentication[side]?.search.named)
        let question = FetchAuthentication.Question(
            number: questions, side: side, candidate: candidate, subject: subject, source: source, failures: failures)
        authentication.question = question
        tellQuestion(question, fetch)
        authentication.proving = nil
        stopClock(of: fetch)
        // Of what it asked about before it needs no answer any more.
        leaveQuestions(of: fetch) { $0 != subject }
        // A vault answers each; a person is asked once.
        if source == .vault { return put(fetch, authentication) }
        switch broker.ask(subject, by: fetch.engine.key) {
        case .ask: put(fetch, authentication)
        case .wait: leaveQuestionsIfSuspended(fetch)
        }
    }

    /// Asks once more, as if it had not asked yet.
    private mutating func askAgain(
        _ question: FetchAuthentication.Question, _ fetch: RunningFetch, _ authentication: FetchAuthentication
    ) {
        authentication.question = nil
        startClock(of: fetch)
        ask(question.source, question.candidate, question.failures, question.side, fetch, authentication)
    }

    /// Puts a fetch's question.
    private func put(_ fetch: RunningFetch, _ authentication: FetchAuthentication) {
        guard let question = authentication.question, let head = authentication.head else { return }
        let challenge = AuthenticationChallenge(
            question.candidate, user: question.subject.named?.user, failures: question.failures,
            url: fetch.engine.target.text, .init(head))
        let mailbox = mailbox
        if question.source == .vault {
            let vault = configuration.vault
            let item = VaultItem(question.candidate.space, user: question.subject.named?.user)
            authentication.asking = vaultWork.start {
                let found = await vault?.credential(for: item)
                let decision = found.map { CredentialDecision.use($0) } ?? .useStored
                mailbox.post(.told(fetch, question: question.number, .success(decision)))
            }
            return
        }
        let (decisions, prompt) = (decider(of: fetch), configuration.prompt)
        authentication.asking = Task {
            // A person may take as long as it takes.
            let answer = await ProgramAnswer.about("credentials", challenge.url, within: nil) {
                () async throws -> CredentialDecision in
                switch question.source {
                case .decision: try await decisions?.credentials(for: challenge) ?? .useStored
                case .prompt: try await prompt?.credential(for: challenge) ?? .useStored
                case .explicit, .url, .session, .netrc, .vault: .useStored
                }
            }
            mailbox.post(.told(fetch, question: question.number, answer))
        }
    }

    /// Somebody who was asked has answered.
    mutating func told(
        _ fetch: RunningFetch, question number: UInt64, _ answer: Result<CredentialDecision, FetchError>
    ) {
        guard fetches[fetch.engine.key] === fetch, let authentication = fetch.engine.authentication,
            let question = authentication.question, question.number == number
        else { return }
        authentication.asking = nil
        let decision: CredentialDecision
        switch answer {
        case .success(let said): decision = said
        // Of those that wait for the same the next one asks.
        case .failure(let error): return conclude(fetch, error)
        }
        guard question.source != .vault else {
            return resume(fetch, authentication, question, with: .init(decision))
        }
        let (subject, key) = (question.subject, fetch.engine.key)
        switch decision {
        case .use(let credential):
            perform(broker.told(credential.credentials, for: subject, to: key), for: subject)
        case .useStored, .reject:
            let action = broker.left(subject, by: key)
            resume(fetch, authentication, question, with: .init(decision))
            perform(action, for: subject)
        case .cancel:
            let action = broker.cancelled(subject, by: key, all: fetch.cancelsTogether)
            resume(fetch, authentication, question, with: .cancel)
            perform(action, for: subject)
        }
    }

    /// Does what the broker says of those that wait.
    mutating func perform(
        _ action: AuthenticationBroker<CredentialSubject, FetchKey>.Action, for subject: CredentialSubject
    ) {
        switch action {
        case .none: break
        case .ask(let key):
            // Not in this turn, in which that one may end as well: nobody is asked for it then.
            if let fetch = fetches[key], let question = fetch.engine.authentication?.question {
                mailbox.post(.askNext(fetch, question: question.number))
            }
        case .prove(let key, let credentials): prove(credentials, by: key, subject)
        case .resume(let keys, let credentials): for key in keys { resume(key, with: credentials, proving: nil) }
        case .fail(let keys):
            for key in keys {
                guard let fetch = fetches[key], let authentication = fetch.engine.authentication,
                    let question = authentication.question
                else { continue }
                if fetch.cancelsTogether {
                    resume(fetch, authentication, question, with: .cancel)
                } else {
                    askAgain(question, fetch, authentication)
                }
            }
        }
    }

    /// One tries what it was told. One that is suspended leaves that to the next, and asks again when it goes on; when
    /// nobody waits it keeps what it was told until then.
    private mutating func prove(_ credentials: Credentials, by key: FetchKey, _ subject: CredentialSubject) {
        guard fetches[key]?.engine.isSuspended == true else {
            return resume(key, with: credentials, proving: subject)
        }
        let action = broker.left(subject, by: key)
        if action == .none { return resume(key, with: credentials, proving: nil) }
        perform(action, for: subject)
    }

    /// One that waited asks, if it is still to, unless credentials have been found meanwhile; then the one behind it
    /// does.
    mutating func askNext(_ fetch: RunningFetch, question number: UInt64) {
        let key = fetch.engine.key
        guard fetches[key] === fetch, let authentication = fetch.engine.authentication,
            let question = authentication.question, question.number == number, authentication.asking == nil,
            broker.knows(key)
        else { return }
        guard let found = credentials.entry(for: question.candidate.space),
            authentication[question.side]?.search.takes(found) == true
        else { return put(fetch, authentication) }
        let action = broker.left(question.subject, by: key)
        resume(fetch, authentication, question, with: .use(found.credentials))
        perform(action, for: question.subject)
    }

    private mutating func resume(_ key: FetchKey, with credentials: Credentials, proving subject: CredentialSubject?) {
        guard let fetch = fetches[key], let authentication = fetch.engine.authentication,
            let question = authentication.question
        else { return }
        authentication.proving = subject
        resume(fetch, authentication, question, with: .use(credentials))
    }

    private mutating func resume(
        _ fetch: RunningFetch, _ authentication: FetchAuthentication, _ question: FetchAuthentication.Question,
        with answer: CredentialSearch.Answer
    ) {
        authentication.question = nil
        startClock(of: fetch)
        let action = authentication[question.side]?.search.answered(answer) ?? .none
        act(on: action, question.side, fetch, authentication)
        leaveQuestionsIfSuspended(fetch)
    }

    /// A fetch is over: whoever is asked for it is told that, and whoever waited for what it would be told does not
    /// wait for it any more.
    mutating func endAuthentication(of fetch: RunningFetch) {
        guard let authentication = fetch.engine.authentication else { return }
        if let asking = authentication.asking {
            // A program's vault may wait for whatever it wants when it is cancelled: not on this thread. Who asks the
            // program itself calls nothing of it here (`FirstAnswer`).
            if authentication.question?.source == .vault { Task { asking.cancel() } } else { asking.cancel() }
        }
        authentication.asking = nil
        leaveQuestions(of: fetch) { _ in true }
    }

    /// A fetch needs no answer about some subjects any more: of those that wait for one another takes its place.
    mutating func leaveQuestions(of fetch: RunningFetch, where isLeft: (CredentialSubject) -> Bool) {
        if broker.isIdle { return }
        for (subject, action) in broker.left(by: fetch.engine.key, where: isLeft) { perform(action, for: subject) }
    }

    /// Nobody waits for a fetch that is suspended, unless somebody is being asked for it: that answer comes all the
    /// same.
    mutating func leaveQuestionsIfSuspended(_ fetch: RunningFetch) {
        guard fetch.engine.isSuspended, let authentication = fetch.engine.authentication, authentication.asking == nil
        else { return }
        authentication.proving = nil
        leaveQuestions(of: fetch) { _ in true }
    }

    /// A fetch is not suspended any more: when it left its place among those that wait for an answer it asks again.
    mutating func resumeQuestion(of fetch: RunningFetch) {
        guard let authentication = fetch.engine.authentication, let question = authentication.question,
            authentication.asking == nil, !broker.knows(fetch.engine.key)
        else { return }
        askAgain(question, fetch, authentication)
    }

    // MARK: - The vault

    /// Keeps what a caller wants kept for good: once, however often it works.
    mutating func saveInVault(_ entry: SessionEntry) {
        guard let vault = configuration.vault, credentials.noteSaved(entry) else { return }
        let credential = Credential(entry.credentials)
        // Others may be kept for who names them; who names nobody has the latest.
        let item = VaultItem(entry.space, user: entry.named == nil ? nil : credential.user)
        let mailbox = mailbox
        vaultWork.start {
            guard let vault = vault as? any AnsweringVault else { return await vault.save(credential, for: item) }
            if let reason = await vault.keep(credential, for: item) { mailbox.post(.notKept(reason)) }
        }
    }
}

extension CredentialSearch.Answer {
    fileprivate init(_ decision: CredentialDecision) {
        switch decision {
        case .use(let credential): self = .use(credential.credentials)
        case .useStored: self = .none
        case .reject: self = .rejectSpace
        case .cancel: self = .cancel
        }
    }
}
