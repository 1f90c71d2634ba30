import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore

/// How the fetches of some options use a cache. Never changed once made.
final class CacheBinding: Sendable {
    /// What workers are told.
    let terms: CacheTerms
    private let shelf: CacheShelf
    private let policy: TrawlCache.CachePolicy
    private let decodesContent: Bool
    private let storesDownloads: Bool
    /// Whether nothing is stored: what came over a connection that was not verified must not answer those who verify.
    private let isUnverified: Bool
    private let partition: CachePartition
    /// Whether what is stored ends with the coordinator.
    let usesSession: Bool
    /// The coordinator's own store, once it was needed: it is asked for at every hop and every hit, and stays open.
    private let opened = LateReference<ResponseStore>()

    /// - Parameter directory: Of the store; nil for a cache of the program's own.
    init(_ shelf: CacheShelf, directory: String?, _ options: RequestOptions) {
        self.shelf = shelf
        let caching = options.caching
        let wanted = caching.policy.isEmpty ? shelf.settings.policy : caching.policy
        assert(wanted.isConsistent, "always asking and asking when stale exclude each other")
        var policy = TrawlCache.CachePolicy(wanted, lifetime: caching.lifetime)
        policy.respectsCacheControl = caching.respectsCacheControl
        policy.usesHeuristics = caching.usesHeuristics
        policy.forcesFallback = caching.forcesFallback
        policy.stopsAtEqualTag = caching.stopsAtEqualTag
        self.policy = policy
        decodesContent = options.contentDecoding == .streaming
        storesDownloads = caching.storesDownloads
        isUnverified = options.tls.verification != .full || options.tls.question != .never
        let transport = options.transport
        partition = CachePartition(options.tls.terms, resolve: transport.resolve, connectTo: transport.connectTo)
        var terms = CacheTerms(directory: directory ?? "", budget: shelf.settings.byteBudget)
        terms.options = policy.options.rawValue
        terms.reload = policy.reload.rawValue
        terms.respectsCacheControl = policy.respectsCacheControl
        terms.usesHeuristics = policy.usesHeuristics
        terms.lifetime = policy.secondsToCache
        terms.forcesFallback = policy.forcesFallback
        terms.stopsAtEqualTag = policy.stopsAtEqualTag
        usesSession = (caching.storage ?? shelf.settings.storage) == .session
        if usesSession { terms.session = shelf.sessionID }
        self.terms = terms
    }

    /// How long what is stored stays.
    var storageClass: StorageClass {
        usesSession ? .session(shelf.sessionID) : .permanent
    }

    /// The coordinator's session in this cache; nil when it has none there, and nothing can be stored for it.
    var session: SessionID? { shelf.holdsSession(terms.directory) ? shelf.sessionID : nil }

    /// Whether the caller lets what comes be stored, and what is stored be changed.
    var allowsStoring: Bool { !isUnverified && !policy.options.contains(.doNotWrite) }

    /// Whether what comes may be stored, and what is stored be changed.
    ///
    /// What is meant for a session that cannot be begun is not stored at all.
    var mayStore: Bool { allowsStoring && (!usesSession || session != nil) }

    /// What a hop may do with the cache before anything is known.
    func access(for sink: FetchPlan.Target) -> CacheAccess {
        if isUnverified || usesSession && session == nil { return .readsAndSends }
        switch sink {
        case .rooted, .opened: return storesDownloads ? .unrestricted : .readsAndSends
        case .memory, .discard, .stream: return .unrestricted
        }
    }

    /// The request as the cache sees it; nil when the cache cannot be used, or must not be.
    ///
    /// - Parameters:
    ///   - identity: Stands for what `Authorization` will say, where that differs each time.
    ///   - opens: Whether the cache may be opened now, which waits for the disk; else it is none until it is open.
    func request(
        _ method: TrawlHTTP.Method, _ target: TargetURI, _ fields: FieldLines, identity: [UInt8]? = nil,
        sharesCookies: Bool = false, hasBody: Bool, opens: Bool = true
    ) -> (CacheRequest, ResponseStore)? {
        guard let store = store(opens: opens) else { return nil }
        let request = request(
            method, target, fields, identity: identity, sharesCookies: sharesCookies, hasBody: hasBody, store.rules)
        return (request, store)
    }

    /// Once closed, it is found empty; who asks then learns from the supervisor that the coordinator is shut down.
    private func store(opens: Bool) -> ResponseStore? {
        if let store = opened.load() { return store }
        let found = opens ? shelf.store(terms.directory) : shelf.openStore(terms.directory)
        // Others may make room for one another.
        guard let found, shelf.directory?.hasSameBytes(as: terms.directory) == true else { return found }
        return opened.set(found)
    }

    /// Has the cache opened where it is not open yet.
    ///
    /// - Parameter then: Called once, from another thread, when it is open or cannot be.
    /// - Returns: Whether there is something to wait for.
    func open(then: @escaping @Sendable () -> Void) -> Bool { shelf.open(terms.directory, then: then) }

    /// The request as rules see it.
    func request(
        _ method: TrawlHTTP.Method, _ target: TargetURI, _ fields: FieldLines, identity: [UInt8]? = nil,
        sharesCookies: Bool = false, hasBody: Bool, _ rules: CacheRules
    ) -> CacheRequest {
        CacheRequest(
            method: method, target: target, fields: fields, policy: policy,
            credentials: identity.map { $0.withUnsafeBytes(rules.tag) }, sharesCookies: sharesCookies,
            partition: partition.bytes(for: target), hasBody: hasBody, decodesContent: decodesContent, tag: rules.tag)
    }
}

extension TrawlCache.CachePolicy {
    /// The rules' form of a public policy.
    fileprivate init(_ policy: CachePolicy, lifetime: Duration?) {
        self.init(Options(rawValue: UInt8(truncatingIfNeeded: policy.rawValue & 0x7F)))
        reload = policy.reload
        secondsToCache = lifetime?.wholeSeconds
    }
}

extension CachePolicy {
    /// What a request tells the caches on its way.
    var reload: TrawlCache.CachePolicy.Reload {
        guard contains(.refreshesOnTheWay) else { return .none }
        return contains(.askServerIfModified) ? .validate : .endToEnd
    }
}
