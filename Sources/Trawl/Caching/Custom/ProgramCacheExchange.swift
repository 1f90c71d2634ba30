import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlSession

/// One hop through a program's cache: what `CacheExchange` is for the store's.
struct ProgramCacheExchange {
    /// What a hop came to.
    struct Hop {
        var head: TrawlHTTP.ResponseHead
        var body: [UInt8]
        var source: Response.Source
        var metrics: [HopReport] = []
        var interim: [Response.ResponseHead] = []
        var trailers: Fields = [:]
        var authentication: AuthenticationReport?
        var proxyAuthentication: AuthenticationReport?
        var retryCount = 0

        func response(
            originalURL: String, redirects: [Response.RedirectHop], _ plan: FetchPlan
        ) throws(FetchError) -> Response {
            var frame = StoredAnswers.Frame(
                originalURL: originalURL, target: plan.target, redirects: redirects, metrics: HopReports(metrics),
                retryCount: retryCount)
            if source == .generated { return try StoredAnswers.nothing(frame, plan.options).get() }
            frame.interim = interim
            frame.trailers = trailers
            frame.authentication = authentication
            frame.proxyAuthentication = proxyAuthentication
            return try StoredAnswers.response(head, body, source, frame, plan.options).get()
        }

        /// Nothing is stored, and nothing may be sent.
        static let nothing = Hop(
            head: TrawlHTTP.ResponseHead(status: 504, version: .http1_1, reason: "", fields: FieldLines()), body: [],
            source: .generated)
    }

    /// An entry that can be used.
    private struct Chosen {
        let entry: DownloadCacheEntry
        let response: StoredResponse
    }

    private let coordinator: Coordinator
    private let program: ProgramCache
    private let plan: FetchPlan
    private let course: FetchCourse
    private let binding: CacheBinding
    /// As it was when the hop began, and with the cookies that went out once there is an answer.
    private var request: CacheRequest

    private var cache: any DownloadCache { program.cache }
    private var rules: CacheRules { program.rules }
    private var mayWrite: Bool { request.mayWrite && binding.allowsStoring }

    /// - Parameter course: Of the fetch that the hop is one of.
    init(_ coordinator: Coordinator, _ program: ProgramCache, _ plan: FetchPlan, _ course: FetchCourse) {
        self.coordinator = coordinator
        self.program = program
        self.plan = plan
        self.course = course
        binding = CacheBinding(coordinator.shelf, directory: nil, plan.options)
        let effective = EffectiveRequest(plan)
        request = binding.request(
            plan.method, plan.target, effective.settled().fields, sharesCookies: effective.sharesCookies,
            hasBody: plan.body != .none, program.rules)
    }

    /// The same for a request that went out, whose cookies may have changed while it waited for its turn.
    private func sent(_ fields: FieldLines) -> ProgramCacheExchange {
        var sent = self
        sent.request = binding.request(
            plan.method, plan.target, request.fields.withCookies(of: fields),
            sharesCookies: EffectiveRequest(plan).sharesCookies, hasBody: plan.body != .none, rules)
        return sent
    }

    func run() async throws(FetchError) -> Hop {
        let entries = request.concernsStored ? await cache.entries(for: request.key.text) : []
        let (decision, chosen) = choose(among: entries)
        switch decision {
        case .unsatisfiable: return .nothing
        case .serve(let reuse):
            // There is a decision to serve only where there is something to serve.
            guard let chosen else { return .nothing }
            if reuse.revalidates, mayWrite {
                let isAlike = rules.isValidatedAlike(request, chosen.response.facts)
                coordinator.validate(plan, of: course.beginning, through: program, isAlike: isAlike)
            }
            return stored(chosen, chosen.response, reuse)
        case .send(let sending): return try await send(sending, chosen)
        }
    }

    /// Whether what is stored would not be served without being asked about.
    func wantsValidation() async -> Bool {
        let (decision, _) = choose(among: await cache.entries(for: request.key.text))
        guard case .serve(let reuse) = decision else { return true }
        return reuse.revalidates
    }

    private func choose(among entries: [DownloadCacheEntry]) -> (CacheDecision, Chosen?) {
        let now = WallClock.time()
        var best: Chosen?
        var varying: StoredFacts?
        for entry in entries {
            entry.record.withUnsafeBytes { bytes in
                guard let view = try? StoredView(bytes) else { return }
                varying = rules.newestVarying(varying, view, for: request)
            }
        }
        for entry in entries {
            entry.record.withUnsafeBytes { bytes in
                // What cannot be read, or has another body, is as if it were not there.
                guard let view = try? StoredView(bytes), view.facts.body.length == entry.body.count,
                    let response = try? StoredResponse(view)
                else { return }
                let isBetter =
                    best?.entry.record.withUnsafeBytes { best in
                        rules.prefers(view, over: try? StoredView(best), beside: varying, for: request)
                    } ?? rules.prefers(view, over: nil, beside: varying, for: request)
                if isBetter { best = Chosen(entry: entry, response: response) }
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

    // MARK: - Asking the server

    private func send(_ sending: Sending, _ chosen: Chosen?) async throws(FetchError) -> Hop {
        let note = ExchangeNote()
        let answer: Response
        do throws(FetchError) {
            let fields = rules.fieldsToSend(request, sending).withCookies(of: plan.fields)
            answer = try await coordinator.fetchOnce(plan, with: fields, of: course, noting: note)
        } catch {
            guard let chosen, error.code.isOutage,
                let reuse = rules.fallback(request, chosen.response, after: .unreachable, at: WallClock.time())
            else { throw error }
            return stored(chosen, chosen.response, reuse)
        }
        let now = WallClock.time()
        // There is an answer to nothing but what was sent.
        guard let sent = note.sent else { return .nothing }
        // From the first byte of the request on it may have been made (RFC 9111 §4.2.3).
        let connecting = answer.metrics.last?.requestSent ?? .zero
        let sentAt = min(now, sent.at.advanced(byMilliseconds: Int64(connecting.clampedMilliseconds)))
        return try await self.sent(sent.fields).conclude(sending, chosen, answer, sentAt: sentAt, now: now)
    }

    /// What a hop comes to by what was answered.
    private func conclude(
        _ sending: Sending, _ chosen: Chosen?, _ answer: Response, sentAt: WallTime, now: WallTime
    ) async throws(FetchError) -> Hop {
        var chosen = chosen
        if let asked = chosen, !isFor(request, asked) {
            // It was asked about with other cookies than it is for.
            if answer.status == 304 { return try await sendPlain(at: now) }
            chosen = nil
        }
        if let chosen {
            switch rules.conclude(
                request, sending, stored: chosen.response, answer.packageHead, requestTime: sentAt, responseTime: now)
            {
            case .freshened(let response, let reuse):
                if await clear(answer.packageHead) { return with(answer, stored(chosen, response, reuse)) }
                if mayWrite, answer.authentication == nil {
                    await cache.update(chosen.entry.updated(response.encoded()))
                }
                return with(answer, stored(chosen, response, reuse))
            case .confirmed(let response, let reuse):
                await clear(answer.packageHead)
                return with(answer, stored(chosen, response, reuse))
            case .fallBack(let reuse):
                await clear(answer.packageHead)
                return with(answer, stored(chosen, chosen.response, reuse))
            // Parts are not kept here, so there is none to complete.
            case .completed, .repeatPlain:
                if mayWrite { await cache.remove([chosen.entry.id], for: chosen.entry.url) }
                return try await sendPlain(at: now)
            case .handOn, .replace: break
            }
        }
        try await keep(answer, sending, chosen, sentAt: sentAt, now: now)
        return with(answer, Hop(head: answer.packageHead, body: answer.body.bytes, source: .network))
    }

    /// Asks once more, about nothing that is stored.
    private func sendPlain(at now: WallTime) async throws(FetchError) -> Hop {
        guard case .send(let plain) = rules.lookup(request, stored: nil, at: now) else { return .nothing }
        return try await send(plain, nil)
    }

    /// Whether an entry may answer a request.
    private func isFor(_ request: CacheRequest, _ chosen: Chosen) -> Bool {
        chosen.entry.record.withUnsafeBytes {
            (try? StoredView($0))?.isSelected(by: request, tag: rules.tag) ?? false
        }
    }

    private func with(_ answer: Response, _ hop: Hop) -> Hop {
        var hop = hop
        hop.metrics = answer.metrics
        hop.interim = answer.interim
        hop.authentication = answer.authentication
        hop.proxyAuthentication = answer.proxyAuthentication
        hop.retryCount = answer.retryCount
        if hop.source == .network { hop.trailers = answer.trailers }
        return hop
    }

    // MARK: - Keeping

    /// What an answer of its own does to what is stored.
    private func keep(
        _ answer: Response, _ sending: Sending, _ chosen: Chosen?, sentAt: WallTime, now: WallTime
    ) async throws(FetchError) {
        let head = answer.packageHead
        await invalidate(head)
        // What a server says to one user is for no other, and who that was stands in no field here.
        guard mayWrite, answer.authentication == nil else { return }
        if request.method == .head, let chosen {
            switch rules.updatedByHead(request, stored: chosen.response, head, requestTime: sentAt, responseTime: now) {
            case .freshened(let response): await cache.update(chosen.entry.updated(response.encoded()))
            case .remove: await cache.remove([chosen.entry.id], for: chosen.entry.url)
            case .keep: break
            }
        }
        let decision = rules.storing(request, head, requestTime: sentAt, responseTime: now) { reference in
            coordinator.planner.resolve(reference, against: request.target)
        }
        guard case .store(let storing) = decision, head.status != 206 else {
            if let chosen, rules.isObsolete(sending, after: head.status) {
                await cache.remove([chosen.entry.id], for: chosen.entry.url)
            }
            return
        }
        var choice = StoringChoice(storage: binding.usesSession ? .session : .permanent)
        if let decisions = program.decisions {
            let (proposal, url, askedAt) = (choice, request.target.text, MonotonicClock.now())
            let decided = await ProgramAnswer.about("storing", url, within: program.decisionTimeout) {
                try await decisions.storing(Response.ResponseHead(head), from: url, proposal: proposal)
            }
            course.clock?.giveBack(since: askedAt)
            guard let decided = try decided.get(), decided.metadata.count <= StoringChoice.longestMetadata else {
                return
            }
            choice = decided
        }
        let body = answer.body.bytes
        guard
            let response = rules.finished(
                storing, received: UInt64(body.count), isComplete: true, metadata: choice.metadata)
        else { return }
        let url = response.key.text
        // What is there now, and not what was there when the request went out.
        let replaced = await cache.entries(for: url).filter { entry in
            entry.record.withUnsafeBytes { (try? StoredView($0))?.isReplaced(by: response) ?? true }
        }
        await cache.store(
            DownloadCacheEntry(url: url, storage: choice.storage, record: response.encoded(), body: body),
            replacing: replaced.map(\.id))
    }

    /// What an answer to an unsafe request, or `Clear-Site-Data`, removes. It does so whether or not anything is
    /// stored.
    private func invalidate(_ head: TrawlHTTP.ResponseHead) async {
        if let references = rules.invalidations(request, head) {
            await cache.removeEntries(for: request.key.text)
            for reference in references {
                guard let target = coordinator.planner.resolve(reference, against: request.target),
                    rules.isInvalidated(target, by: request.target)
                else { continue }
                await cache.removeEntries(for: CacheKey(target).text)
            }
        }
        await clear(head)
    }

    /// Removes what `Clear-Site-Data` of a response is about.
    ///
    /// - Returns: Whether there was such a field.
    @discardableResult
    private func clear(_ head: TrawlHTTP.ResponseHead) async -> Bool {
        let isLocal = CookieTarget.isLoopback(request.target.host) && plan.terms.isDirect(to: request.target.origin)
        guard rules.clearsStoredResponses(request, isLocal: isLocal, head.fields) else { return false }
        let beginning = request.target.origin.keyStart
        await cache.removeEntries { $0.hasPrefix(beginning) }
        return true
    }
}

extension FieldLines {
    /// These lines with the `Cookie` lines of others in the place of their own.
    fileprivate func withCookies(of other: FieldLines) -> FieldLines {
        var fields = self
        fields.removeAll("Cookie")
        var cookies = other
        cookies.removeAll { !FieldSyntax.equalIgnoringCase($0, "Cookie") }
        fields.append(contentsOf: cookies)
        return fields
    }
}
