import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore

/// Fetches through a cache of the program's own: the rules of `TrawlCache`, hop by hop, around fetches that use no other.
extension Coordinator {
    /// Fetches into memory.
    func send(_ request: Request, through cache: any DownloadCache) async throws(FetchError) -> Response {
        var plan = try planner.plan(request, into: .memory, wantsEvents: false)
        let binding = CacheBinding(shelf, directory: nil, plan.options)
        let original = plan.originalURL
        var redirects: [Response.RedirectHop] = []
        while true {
            let exchange = ProgramCacheExchange(cache, plan, binding, rules: programCacheRules)
            let hop = try await exchange.run { (plan) async throws(FetchError) in try await self.fetchOnce(plan) }
            let target = plan.target
            guard
                let redirect = Redirect(
                    head: hop.head, method: plan.method, mode: plan.options.redirects.mode.packageMode)
            else { return try hop.response(originalURL: original, redirects: redirects, plan) }
            guard redirects.count < plan.options.redirects.limit else {
                let limit = plan.options.redirects.limit
                throw FetchError(.tooManyRedirects, "more than \(limit) redirects", url: target.text)
            }
            let next = try planner.redirectTarget(redirect, from: target, plan.terms)
            redirects.append(
                Response.RedirectHop(
                    url: target.text, status: Int(hop.head.status), location: next.textWithFragment,
                    head: Response.ResponseHead(hop.head)))
            plan = plan.redirected(by: redirect, to: next)
        }
    }

    /// One exchange with the server, nothing stored and nothing followed.
    private func fetchOnce(_ plan: FetchPlan) async throws(FetchError) -> Response {
        let outcome = OutcomeCell()
        let running = RunningFetch(plan: plan, reply: .cell(outcome))
        submit(running)
        return try await answer(of: running, in: outcome)
    }
}

/// One hop through a program's cache.
private struct ProgramCacheExchange {
    /// What a hop came to.
    struct Hop {
        var head: TrawlHTTP.ResponseHead
        var body: [UInt8]
        var source: Response.Source
        var metrics: [HopReport] = []
        var interim: [Response.ResponseHead] = []

        func response(
            originalURL: String, redirects: [Response.RedirectHop], _ plan: FetchPlan
        ) throws(FetchError) -> Response {
            try StoredAnswers.response(
                head, body, source,
                StoredAnswers.Frame(
                    originalURL: originalURL, target: plan.target, redirects: redirects, metrics: metrics), plan.options
            ).get()
        }
    }

    private let cache: any DownloadCache
    private let plan: FetchPlan
    private let request: CacheRequest
    private let rules: CacheRules
    private let mayStore: Bool

    init(_ cache: any DownloadCache, _ plan: FetchPlan, _ binding: CacheBinding, rules: CacheRules) {
        self.cache = cache
        self.plan = plan
        self.rules = rules
        mayStore = binding.access(for: .memory).contains(.writes)
        request = binding.request(plan.method, plan.target, plan.fields, hasBody: plan.body != .none, rules)
    }

    func run(_ fetch: (FetchPlan) async throws(FetchError) -> Response) async throws(FetchError) -> Hop {
        let entries = request.mayBeAnsweredFromStore ? await cache.entries(for: request.key.text) : []
        let (decision, chosen) = choose(among: entries)
        switch decision {
        case .unsatisfiable:
            let nothing = try StoredAnswers.nothing(
                StoredAnswers.Frame(originalURL: plan.originalURL, target: plan.target, redirects: [], metrics: []),
                plan.options
            ).get()
            return Hop(head: nothing.packageHead, body: [], source: .generated)
        case .serve(let reuse):
            guard let chosen else { return try await run(fetch, [], nil) }
            return stored(chosen, chosen.response, reuse)
        case .send(let sending):
            return try await run(fetch, entries, chosen, sending)
        }
    }

    /// An entry that can be used.
    private struct Chosen {
        let entry: DownloadCacheEntry
        let response: StoredResponse
    }

    private func choose(among entries: [DownloadCacheEntry]) -> (CacheDecision, Chosen?) {
        let now = WallClock.time()
        var best: Chosen?
        for entry in entries {
            entry.record.withUnsafeBytes { bytes in
                guard let view = try? StoredView(bytes), view.facts.body.length == entry.body.count,
                    let response = try? StoredResponse(view)
                else { return }
                let isBetter = best.map { best in
                    best.entry.record.withUnsafeBytes { rules.prefers(view, over: try? StoredView($0), for: request) }
                }
                if isBetter ?? rules.prefers(view, over: nil, for: request) {
                    best = Chosen(entry: entry, response: response)
                }
            }
        }
        guard let best else { return (rules.lookup(request, stored: nil, at: now), nil) }
        return best.entry.record.withUnsafeBytes {
            (rules.lookup(request, stored: try? StoredView($0), at: now), best)
        }
    }

    private func stored(_ chosen: Chosen, _ response: StoredResponse, _ reuse: Reuse) -> Hop {
        let range = reuse.bodyRange(of: response.facts.body) ?? 0..<0
        return Hop(
            head: response.head(as: reuse),
            body: Array(chosen.entry.body[Int(range.lowerBound)..<Int(range.upperBound)]),
            source: Response.Source(reuse.source))
    }

    private func run(
        _ fetch: (FetchPlan) async throws(FetchError) -> Response, _ entries: [DownloadCacheEntry], _ chosen: Chosen?,
        _ sending: Sending? = nil
    ) async throws(FetchError) -> Hop {
        let sentAt = WallClock.time()
        let fields = sending.map { rules.fieldsToSend(request, $0) } ?? plan.fields
        let answer: Response
        do throws(FetchError) {
            answer = try await fetch(plan.bare(with: fields))
        } catch {
            guard let chosen, error.code != .cancelled,
                let reuse = rules.fallback(request, chosen.response, after: .unreachable, at: WallClock.time())
            else { throw error }
            return stored(chosen, chosen.response, reuse)
        }
        let now = WallClock.time()
        let head = answer.packageHead
        if let chosen, let sending {
            switch rules.conclude(
                request, sending, stored: chosen.response, head, requestTime: sentAt, responseTime: now)
            {
            case .freshened(let response, let reuse):
                await keep(response, chosen.entry.body, replacing: [chosen.entry.id])
                return stored(chosen, response, reuse)
            case .fallBack(let reuse): return stored(chosen, chosen.response, reuse)
            case .completed, .repeatPlain:
                // Parts are not kept here, and what a 304 says of nothing stored is asked again.
                await cache.removeEntries(for: request.key.text)
                return try await run(fetch, [], nil)
            case .handOn, .replace: break
            }
        }
        let body = answer.body.bytes
        if rules.invalidations(request.method, head) != nil { await cache.removeEntries(for: request.key.text) }
        if case .store(let storing) = rules.storing(
            request, head, requestTime: sentAt, responseTime: now, resolving: { _ in nil }), head.status != 206,
            let response = rules.finished(storing, received: UInt64(body.count), isComplete: true)
        {
            // Where what is stored may not answer, it was not asked for.
            let known = request.mayBeAnsweredFromStore ? entries : await cache.entries(for: request.key.text)
            let replaced = known.filter { entry in
                entry.record.withUnsafeBytes { (try? StoredView($0))?.isReplaced(by: response) ?? true }
            }
            await keep(response, body, replacing: replaced.map(\.id))
        }
        return Hop(head: head, body: body, source: .network, metrics: answer.metrics, interim: answer.interim)
    }

    private func keep(_ response: StoredResponse, _ body: [UInt8], replacing: [DownloadCacheEntry.ID]) async {
        guard mayStore, request.mayWrite else { return }
        await cache.store(
            DownloadCacheEntry(url: response.key.text, record: response.encoded(), body: body), replacing: replacing)
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

    fileprivate func redirected(by redirect: Redirect, to target: TargetURI) -> FetchPlan {
        FetchPlan(
            originalURL: originalURL, target: target, method: redirect.method,
            fields: redirect.fields(from: fields, changesOrigin: target.origin != self.target.origin),
            body: redirect.keepsBody ? body : .none, sink: sink, fileOptions: fileOptions, path: nil, terms: terms,
            wantsEvents: false)
    }
}
