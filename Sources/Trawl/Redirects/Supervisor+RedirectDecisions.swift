import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision

/// What a program decides about redirects (ASI-RED-08, ULS-LIFE-05).
extension Supervisor {
    /// A transfer rests at the head of a redirect until it is known what becomes of its body.
    mutating func askAboutRedirect(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) {
        switch redirect(of: head, fetch) {
        case .follow where asksAboutRedirect(head, fetch): break
        case .follow, .refuse: dispose(fetch, .proceed)
        case nil: dispose(fetch, .deliver)
        }
    }

    /// Asks the program about a redirect that can be followed, unless it has decided already.
    ///
    /// - Returns: Whether the fetch waits for its answer.
    mutating func asksAboutRedirect(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) -> Bool {
        guard let decisions = decider(of: fetch), fetch.engine.decided?.isAbout(head) != true,
            case .follow(let redirect, let target)? = self.redirect(of: head, fetch)
        else { return false }
        let here = fetch.engine.target
        // The plan's, since those of the hop may have been changed for it alone.
        var options = fetch.plan.options.withoutSecrets(
            leavesOrigin: fetch.engine.hasLeftOrigin || target.origin != here.origin)
        options.tls = self.planner.following(fetch.engine.terms, to: target, from: here).options.tls
        let proposal = RedirectProposal(
            redirect, to: target, head, from: here, fetch.engine.fields, count: fetch.engine.redirects.count,
            hasBody: fetch.body != .none, options)
        let earlier = [
            EarlierHop(origin: here.origin, fields: fetch.engine.fields),
            EarlierHop(origin: fetch.home, fields: fetch.plan.fields),
        ]
        let number = programQuestions.nextNumber()
        let (mailbox, planner, limit) = (mailbox, planner, configuration.decisionTimeout)
        withdrawQuestion(fetch)
        let task = Task {
            let answer = await RedirectAnswer(decisions, proposal, after: earlier, within: limit, planner)
            mailbox.post(.redirectDecided(fetch, question: number, answer))
        }
        let subject = OpenQuestion.Subject.redirect(head, lease: fetch.engine.life.activeLease?.rawValue)
        openQuestion(OpenQuestion(number: number, about: subject, task: task), of: fetch)
        return true
    }

    /// The program has decided, or has not in time.
    mutating func redirectDecided(_ fetch: RunningFetch, _ number: UInt64, _ answer: RedirectAnswer) {
        guard let question = fetch.engine.question, question.number == number, !fetch.engine.life.isAnswered,
            case .redirect(let head, let lease) = question.about
        else { return }
        withdrawQuestion(fetch)
        if case .fail(let error) = answer { return conclude(fetch, error) }
        fetch.engine.decided = DecidedRedirect(
            status: head.status, location: head.fields.reference("Location"), answer: answer)
        guard let lease else {
            // It is found in the cache once more; what was decided holds for it.
            if fetch.engine.life.isWaiting { begin(fetch, front: true) }
            return
        }
        // When its worker died meanwhile, the answer waits for the next one's head.
        guard fetch.engine.life.activeLease?.rawValue == lease else { return }
        if case .stop = answer {
            fetch.channel?.post(.head(Response.ResponseHead(head)))
            dispose(fetch, .deliver)
        } else {
            dispose(fetch, .proceed)
        }
    }

    /// The fetch waits for the program's answer, and its clock stands.
    func openQuestion(_ question: OpenQuestion, of fetch: RunningFetch) {
        fetch.engine.question = question
        stopClock(of: fetch)
    }

    /// Nobody waits for the program's answer any more; the time it took is given back to the fetch.
    mutating func withdrawQuestion(_ fetch: RunningFetch) {
        guard let question = fetch.engine.question else { return }
        question.task?.cancel()
        fetch.engine.question = nil
        if !fetch.engine.life.isAnswered { startClock(of: fetch) }
    }

    mutating func dispose(_ fetch: RunningFetch, _ disposition: HeadDisposition) {
        guard let lease = fetch.engine.life.activeLease, let link = pool.links[fetch.engine.worker] else { return }
        _ = link.send(.answer(lease: lease.rawValue, disposition))
        pool.markDirty(fetch.engine.worker)
    }
}
