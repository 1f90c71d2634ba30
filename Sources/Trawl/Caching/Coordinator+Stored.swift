import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlStore

/// Answers from the cache on the caller's own thread.
extension Coordinator {
    /// Why a cache could not be used, when one could not: then fetches went on without it.
    public var cacheProblem: FetchError? { shelf.problem }

    /// The answer to a plan, when it is stored with a short body and wanted in memory; nil when the supervisor has to
    /// look after it.
    ///
    /// No supervisor, no worker and no write has part in it.
    func storedAnswer(to plan: FetchPlan) -> Result<Response, FetchError>? {
        // Who the request is made as is the supervisor's to say, and so is what a challenge is answered with.
        guard let binding = plan.terms.cache, plan.sink.isKept, !plan.terms.asksForIdentity,
            !credentialState.mayConcern(plan)
        else { return nil }
        let effective = EffectiveRequest(plan)
        guard effective.isAtHand,
            let (request, store) = binding.request(
                plan.method, plan.target, effective.settled().fields, sharesCookies: effective.sharesCookies,
                hasBody: plan.body != .none, opens: false),
            case .serve(let hit) = store.lookup(request, at: WallClock.time(), bodies: StoredAnswers.longestBody),
            hit.length == 0 || hit.body != nil, !hit.isRedirect || plan.options.redirects.mode == .manual,
            // Whether there is room for a validation the supervisor knows.
            hit.head.status != 401, !(hit.reuse.revalidates && binding.mayStore)
        else { return nil }
        let frame = StoredAnswers.Frame(
            originalURL: plan.originalURL, target: plan.target, redirects: [], metrics: HopReports())
        let answer = StoredAnswers.response(to: hit, frame, plan.options)
        // What cannot be decoded is fetched anew.
        if case .failure(let error) = answer, error.code == .decoding { return nil }
        store.cache.used(hit.use)
        callerCounts.answered(answer)
        return answer
    }
}

extension StoredHit {
    /// Whether it may have to be followed.
    var isRedirect: Bool { head.status >= 300 && head.status < 400 && head.status != 304 }
}

extension FetchPlan.Target {
    /// Whether a response goes to memory or nowhere, so that no worker is needed to deliver it.
    var isKept: Bool {
        switch self {
        case .memory, .discard: true
        case .stream, .rooted, .opened: false
        }
    }
}
