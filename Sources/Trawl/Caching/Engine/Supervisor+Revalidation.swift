import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore

/// What is stored and served is asked about in the background.
extension Supervisor {
    /// Has what is served stale asked about, with nobody waiting.
    ///
    /// - Parameter isAlike: Whether by a request of the same method and range (`CacheRules.isValidatedAlike`).
    /// - Returns: False when it is to be validated before it is served: there is no room for that, or who decides how
    ///   it is stored ends with the fetch. Whose caller wants no network is served all the same (RFC 9111 §5.2.1.7).
    mutating func revalidate(_ fetch: RunningFetch, isAlike: Bool) -> Bool {
        // What it brought could not be kept; of a request's `no-store`, RFC 9111 §5.2.1.5.
        guard fetch.engine.terms.cache?.mayStore == true, cacheRequest(of: fetch)?.0.mayWrite == true else {
            return true
        }
        guard fetch.engine.decisions == nil, revalidations.hasRoom(for: CacheDigest(of: CacheKey(fetch.engine.target)))
        else { return fetch.neverLoads }
        submit(.revalidation(of: fetch, isAlike: isAlike))
        return true
    }

    /// Has what is stored asked about before it is served; it still answers where the server does not.
    func validateFirst(_ fetch: RunningFetch) {
        let terms = fetch.engine.terms
        var options = terms.options
        let policy = options.caching.policy.isEmpty ? configuration.cache.policy : options.caching.policy
        options.caching.policy = policy.subtracting(.askServerIfStale)
            .union([.askServerIfModified, .fallBackToCacheIfLoadFails])
        fetch.engine.terms = terms.changed(to: options)
    }

    /// Whether a validation with nobody waiting begins now: each thing that is stored is asked about once at a time.
    mutating func admitRevalidation(_ fetch: RunningFetch) -> Bool {
        guard case .no = closing, downReason == nil else { return false }
        return revalidations.admit(fetch, for: CacheDigest(of: CacheKey(fetch.plan.target)))
    }

    /// Begins validations that waited until others were over.
    mutating func beginRevalidations() {
        while let fetch = revalidations.next() { enter(fetch) }
    }

    /// Whether what is stored would answer without being asked about.
    func isFresh(_ request: CacheRequest, _ store: ResponseStore) -> Bool {
        let byProtocol = CacheRequest(request, policy: .useProtocolCachePolicy)
        guard case .serve(let hit) = store.lookup(byProtocol, at: WallClock.time(), bodies: 0) else { return false }
        return !hit.reuse.revalidates
    }

    /// It is over, well or not.
    mutating func endRevalidation(_ fetch: RunningFetch) {
        revalidations.end(CacheDigest(of: CacheKey(fetch.plan.target)))
        if case .draining = closing { validationGrace.extend(by: configuration.validationGrace, at: now) }
    }

    /// After an answer of a worker that should be validated with nobody waiting.
    mutating func revalidateIfWanted(_ fetch: RunningFetch, _ report: CacheReport) {
        guard report.wantsRevalidation else { return }
        var isAlike = false
        // Looked up once more: the worker does not tell what it was.
        if let (request, store) = cacheRequest(of: fetch),
            case .serve(let hit) = store.lookup(request, at: WallClock.time(), bodies: 0)
        {
            isAlike = hit.isValidatedAlike
        }
        _ = revalidate(fetch, isAlike: isAlike)
    }
}

extension RunningFetch {
    /// A fetch that validates, for nobody, what a hop was answered with.
    ///
    /// - Parameter isAlike: Whether by a request of the same method and range.
    static func revalidation(of fetch: RunningFetch, isAlike: Bool) -> RunningFetch {
        let (target, terms) = (fetch.engine.target, fetch.engine.terms)
        let method = isAlike ? fetch.engine.method : .get
        // Ranges are of GET alone (RFC 9110 §14.2).
        let fields = fetch.engine.fields.ofValidation(keepsRange: isAlike && method == .get)
        var options = terms.options
        options.caching.policy = options.caching.policy.validating
        options.redirects.mode = .manual
        if !fetch.sendsManualCookies { options.cookies.manual = [] }
        let revalidation = RunningFetch(
            plan: FetchPlan(
                originalURL: target.text, target: target, method: method, fields: fields, body: .none,
                sink: .discard, fileOptions: .init(), path: nil, terms: terms.changed(to: options),
                wantsEvents: false),
            reply: .nobody(FetchCourse(FetchCourse.Beginning(fetch), nil)), asksProgram: false,
            asksAboutStoring: fetch.asksAboutStoring)
        revalidation.engine.isHomeSecured = fetch.engine.isHomeSecured
        return revalidation
    }
}
