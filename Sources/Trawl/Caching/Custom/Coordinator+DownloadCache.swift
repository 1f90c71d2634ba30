import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlStore

/// Fetches through a cache of the program's own: the rules of `TrawlCache`, hop by hop, around fetches that use no
/// other.
extension Coordinator {
    /// Fetches into memory.
    func send(_ request: Request, through cache: ProgramCache) async throws(FetchError) -> Response {
        var plan = try planner.plan(request, into: .memory, wantsEvents: false)
        let clock = FetchClock(plan.terms)
        let original = plan
        var beginning = FetchCourse.Beginning(plan)
        var redirects = FollowedRedirects()
        var metrics: [HopReport] = []
        var interim = InterimHeads()
        var retryCount = 0
        while true {
            var hop = try await ProgramCacheExchange(self, cache, plan, FetchCourse(beginning, clock)).run()
            metrics += hop.metrics
            retryCount += hop.retryCount
            interim.append(contentsOf: hop.interim)
            (hop.metrics, hop.retryCount, hop.interim) = (metrics, retryCount, interim.heads)
            let target = plan.target
            guard hop.source != .generated,
                let redirect = Redirect(
                    head: hop.head, method: plan.method, mode: plan.options.redirects.mode.packageMode)
            else { return try hop.response(originalURL: original.originalURL, redirects: redirects.hops, plan) }
            guard redirects.count < plan.options.redirects.limit else {
                let limit = plan.options.redirects.limit
                throw FetchError(.tooManyRedirects, "more than \(limit) redirects", url: target.text)
            }
            let next = try planner.redirectTarget(redirect, from: target, plan.terms)
            let askedAt = MonotonicClock.now()
            let answer = await answer(to: redirect, to: next, hop.head, plan, original, redirects.count, cache)
            clock.giveBack(since: askedAt)
            // Of what is stored it was waited for when it came.
            let isNew = hop.source == .network || hop.source == .revalidated
            clock.delayNextHop(by: isNew ? cache.politeness.wait(after: hop.head) : nil)
            switch answer {
            case .follow:
                plan = plan.redirected(by: redirect, to: next, planner.following(plan.terms, to: next, from: target))
            case .replace(let other):
                plan = plan.replaced(by: other, planner.following(plan.terms, to: other.target, from: target))
            case .stop: return try hop.response(originalURL: original.originalURL, redirects: redirects.hops, plan)
            case .fail(let error): throw error
            }
            beginning.turned(from: target, to: plan.target)
            redirects.append(
                Response.RedirectHop(
                    url: target.text, status: Int(hop.head.status), location: plan.target.textWithFragment,
                    head: Response.ResponseHead(hop.head)),
                keepsFields: true)
        }
    }

    /// What the program says about a redirect.
    private func answer(
        to redirect: Redirect, to target: TargetURI, _ head: TrawlHTTP.ResponseHead, _ plan: FetchPlan,
        _ original: FetchPlan, _ count: Int, _ cache: ProgramCache
    ) async -> RedirectAnswer {
        guard let decisions = cache.decisions else { return .follow }
        let next = planner.following(plan.terms, to: target, from: plan.target)
        let proposal = RedirectProposal(
            redirect, to: target, head, from: plan.target, plan.fields, count: count, hasBody: plan.body != .none,
            next.options.withoutSecrets(leavesOrigin: target.origin != plan.target.origin))
        let earlier = [plan, original].map { EarlierHop(origin: $0.target.origin, fields: $0.fields) }
        return await RedirectAnswer(decisions, proposal, after: earlier, within: cache.decisionTimeout, planner)
    }

    /// One exchange with the server, nothing stored and nothing followed.
    ///
    /// - Parameters:
    ///   - fields: Those of the hop, without cookies of the jar or the options: these are settled when its turn comes.
    ///   - course: Of the whole fetch, earlier hops included.
    ///   - note: Told what is sent.
    func fetchOnce(
        _ plan: FetchPlan, with fields: FieldLines, of course: FetchCourse, noting note: ExchangeNote
    ) async throws(FetchError) -> Response {
        let outcome = OutcomeCell()
        let running = RunningFetch(plan: plan.bare(with: fields), reply: .hop(outcome, course), channel: note)
        submit(running)
        return try await answer(of: running, in: outcome)
    }

    /// Validates what was served stale, with nobody waiting.
    ///
    /// - Parameters:
    ///   - beginning: Of the fetch whose hop the plan is: it is made as who that is made as.
    ///   - isAlike: Whether by a request of the same method.
    func validate(
        _ plan: FetchPlan, of beginning: FetchCourse.Beginning, through cache: ProgramCache, isAlike: Bool
    ) {
        let url = plan.target.text
        guard cache.beginsValidation(of: url) else { return }
        let course = FetchCourse(beginning, nil)
        Task {
            // One that ended since the caller's look may have brought what is fresh.
            if await ProgramCacheExchange(self, cache, plan, course).wantsValidation() {
                _ = try? await ProgramCacheExchange(self, cache, plan.validating(isAlike: isAlike), course).run()
            }
            cache.endValidation(of: url)
        }
    }
}

extension FetchPlan {
    /// The same, for one hop that uses no cache, follows nothing and leaves codings on.
    fileprivate func bare(with fields: FieldLines) -> FetchPlan {
        var options = options
        options.caching.cache = .none
        options.redirects.mode = .manual
        options.contentDecoding = .off
        return FetchPlan(
            originalURL: originalURL, target: target, method: method, fields: fields, body: body, sink: .memory,
            fileOptions: fileOptions, path: nil, terms: terms.changed(to: options), wantsEvents: false)
    }

    /// The same, so that what is stored is asked about even when it would answer.
    fileprivate func validating(isAlike: Bool) -> FetchPlan {
        var options = options
        options.caching.policy = options.caching.policy.validating
        return FetchPlan(
            originalURL: originalURL, target: target, method: isAlike ? method : .get,
            fields: fields.ofValidation(keepsRange: false), body: .none, sink: .memory, fileOptions: fileOptions,
            path: nil, terms: terms.changed(to: options), wantsEvents: false)
    }

    /// The terms of the next hop. What it is without does not come back.
    private func without(secretsFor target: TargetURI, _ terms: FetchTerms) -> FetchTerms {
        let options = terms.options.withoutSecrets(leavesOrigin: target.origin != self.target.origin)
        return options == terms.options ? terms : terms.changed(to: options)
    }

    fileprivate func replaced(by other: RedirectReplacement, _ terms: FetchTerms) -> FetchPlan {
        FetchPlan(
            originalURL: originalURL, target: other.target, method: other.method, fields: other.fields,
            body: other.keepsBody ? body : other.body, sink: sink, fileOptions: fileOptions, path: nil,
            terms: without(secretsFor: other.target, terms), wantsEvents: false)
    }

    fileprivate func redirected(by redirect: Redirect, to target: TargetURI, _ terms: FetchTerms) -> FetchPlan {
        FetchPlan(
            originalURL: originalURL, target: target, method: redirect.method,
            fields: redirect.fields(
                from: fields, at: self.target.origin, to: target.origin,
                repeatsCookies: options.cookies.repeatsManual),
            body: redirect.keepsBody ? body : .none, sink: sink, fileOptions: fileOptions, path: nil,
            terms: without(secretsFor: target, terms), wantsEvents: false)
    }
}
