import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore

/// A response cache, for programs that look into it or change it by hand.
///
/// All coordinators and workers that use its directory see what is done here, and what they do is seen here.
///
/// Looking is done on the calling thread, which opens the store when that is not open yet. Changes are made on a thread
/// of their own. They wait for another process that writes for five seconds; who is cancelled does not wait, and the
/// change is made all the same. Once the coordinator is shut down, all of it fails with ``FetchError/Code/shutDown``.
///
/// One whose directory is an empty path refuses all of it with ``FetchError/Code/badRequest``.
public struct ResponseCache: Sendable {
    private let shelf: CacheShelf
    private let planner: FetchPlanner
    /// The store directory; the cache is in `cache` beneath it.
    public let directory: String

    init(_ shelf: CacheShelf, _ planner: FetchPlanner, directory: String) {
        self.shelf = shelf
        self.planner = planner
        self.directory = directory
    }

    /// What is stored that would answer a request, whatever its age; nil when there is nothing, as for a request with a
    /// client certificate.
    ///
    /// Looks on the calling thread, for a few microseconds; a long body is read when it is asked for.
    /// - Throws: What makes the request impossible; ``FetchError/Code/storeUnusable``.
    public func response(to request: Request) throws(FetchError) -> CachedResponse? {
        let (found, store) = try lookUp(request)
        guard case .serve(let hit)? = found, let store, let stored = store.stored(hit.use) else { return nil }
        return CachedResponse(hit, stored, limits: request.options.sizeLimits)
    }

    /// The file of the stored body that would answer a request, whatever its age, content codings on; nil when nothing
    /// is stored, or the body is none of its own file: up to 16 KiB lie in their records, and parts are not told.
    ///
    /// All of it is read on the calling thread and compared with its checksums first; what is damaged is removed. The
    /// name says nothing before the body is there, since it is that of its bytes.
    ///
    /// The file belongs to the cache. It must not be changed, and its name goes when the response is removed, replaced
    /// or makes room: open it at once. ``Coordinator/send(_:into:)`` into a file makes one of the caller's own, which
    /// shares the blocks of this one where the file system can.
    /// - Throws: What makes the request impossible; ``FetchError/Code/storeUnusable``.
    /// - Source: ASIHTTPRequest's `pathToStoreCachedResponseDataForRequest:` (ASI-CACHE-23).
    public func bodyFile(for request: Request) throws(FetchError) -> String? {
        let (found, store) = try lookUp(request)
        guard case .serve(let hit)? = found, let store, case .blob(let reader)? = hit.body, hit.head.status != 206
        else { return nil }
        do throws(BlobError) {
            try reader.verify()
        } catch {
            store.cache.reportDamage(of: reader, hit.use)
            return nil
        }
        return store.path(of: reader)
    }

    /// Stores a response by hand. It takes the place of what it makes obsolete.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: The header section, with `Content-Encoding` when `body` is coded.
    ///   - body: Content codings still on.
    ///   - request: What it answers; its options say how it is stored: ``RequestOptions/Caching/lifetime`` wins over
    ///     what the fields say.
    ///   - metadata: Data of the program's own, at most 64 KiB.
    /// - Throws: What makes the request impossible; ``FetchError/Code/badRequest`` when the response may not be stored,
    ///   be it for the request's options (a client certificate, a server that is not fully verified), or `metadata` is
    ///   too long; ``FetchError/Code/storeUnusable`` when the store cannot; ``FetchError/Code/cancelled``.
    public func insert(
        status: Int = 200, fields: Fields, body: [UInt8], for request: Request, metadata: [UInt8] = []
    ) async throws(FetchError) {
        guard (200...999).contains(status) else {
            throw FetchError(.badRequest, "\(status) is no status of a response that could be stored")
        }
        guard metadata.count <= StoringChoice.longestMetadata else {
            throw FetchError(.badRequest, "\(metadata.count) bytes of metadata are more than can be stored")
        }
        try await shelf.work.run { () throws(FetchError) in
            try put(status, fields, body, for: request, metadata)
        }
    }

    /// Removes everything that is stored for a request's URL, all variants.
    ///
    /// - Throws: What makes the request impossible; ``FetchError/Code/storeUnusable`` when it is not removed, because the
    ///   store cannot be written or another process is in the way; ``FetchError/Code/cancelled``.
    public func remove(_ request: Request) async throws(FetchError) {
        try await shelf.work.run { () throws(FetchError) in
            let (plan, store) = try prepare(request, policy: [])
            _ = try store.remove(.removeAll(CacheDigest(of: CacheKey(plan.target))))
        }
    }

    /// Removes what fits all that is given; everything when nothing is.
    ///
    /// - Parameters:
    ///   - storage: How long it would have stayed. What other living coordinators keep for their sessions is theirs: with
    ///     ``RequestOptions/Caching/Storage/session`` only this one's goes.
    ///   - since: Milliseconds since 1970: what was stored then or later.
    /// - Returns: How many responses went.
    /// - Throws: ``FetchError/Code/storeUnusable`` when not all of it is removed, because the store cannot be written or
    ///   another process is in the way; ``FetchError/Code/cancelled``.
    @discardableResult
    public func removeAll(
        storage: RequestOptions.Caching.Storage? = nil, storedSince since: Int64? = nil
    ) async throws(FetchError) -> Int {
        let storageClass: CacheFilter.Class? =
            switch storage {
            case nil: nil
            case .permanent: .permanent
            case .session: .session(shelf.sessionID)
            }
        let filter = CacheFilter(storageClass: storageClass, storedSince: since.map { UInt64(max(0, $0)) })
        return try await shelf.work.run { () throws(FetchError) in
            try store().remove(.removeMatching(filter))
        }
    }

    /// What it holds.
    ///
    /// - Throws: ``FetchError/Code/storeUnusable``.
    public func usage() throws(FetchError) -> Usage {
        let store = try store()
        do throws(StoreError) {
            let statistics = try store.cache.statistics()
            return Usage(
                responses: Int(clamping: statistics.records), bytes: statistics.bytes, budget: statistics.budget)
        } catch {
            throw FetchError(.storeUnusable, "\(error)")
        }
    }

    /// How much there is.
    public struct Usage: Sendable, Hashable {
        /// Stored responses.
        public let responses: Int
        /// Bytes on disk that count.
        public let bytes: UInt64
        /// Bytes there may be.
        public let budget: UInt64
    }

    // MARK: - Parts

    /// The store, opened now if it is not yet.
    private func store() throws(FetchError) -> ResponseStore {
        if let problem = RequestOptions.Caching.Choice.at(directory).problem { throw FetchError(.badRequest, problem) }
        guard let store = shelf.store(directory) else { throw unusable }
        return store
    }

    private var unusable: FetchError {
        if shelf.isClosed { return .shutDown() }
        return shelf.problem ?? FetchError(.storeUnusable, "the store \(directory.terminalSafe) cannot be used")
    }

    private func lookUp(_ request: Request) throws(FetchError) -> (StoredLookup?, ResponseStore?) {
        let (plan, store) = try prepare(request, policy: .doNotLoad)
        guard
            let (cacheRequest, _) = plan.terms.cache?.request(plan.method, plan.target, plan.fields, hasBody: false)
        else { return (nil, nil) }
        return (store.lookup(cacheRequest, at: WallClock.time()), store)
    }

    /// Stores a response by hand, on the calling thread.
    private func put(
        _ status: Int, _ fields: Fields, _ body: [UInt8], for request: Request, _ metadata: [UInt8]
    ) throws(FetchError) {
        let (plan, store) = try prepare(request, policy: .askServerIfStale)
        guard let binding = plan.terms.cache, binding.allowsStoring else {
            throw FetchError(.badRequest, "nothing that the request brings may be stored", url: plan.target.text)
        }
        guard binding.mayStore else {
            throw FetchError(.storeUnusable, "a session cannot be begun in the store", url: plan.target.text)
        }
        guard let (cacheRequest, _) = binding.request(plan.method, plan.target, plan.fields, hasBody: false) else {
            throw unusable
        }
        let now = WallClock.time()
        let head = TrawlHTTP.ResponseHead(
            status: UInt16(status), version: .http1_1, reason: "", fields: fields.lines)
        let decision = store.rules.storing(cacheRequest, head, requestTime: now, responseTime: now) { _ in nil }
        guard case .store(let storing) = decision,
            let response = store.rules.finished(
                storing, received: UInt64(body.count), isComplete: true, metadata: metadata)
        else { throw FetchError(.badRequest, "the response may not be stored", url: plan.target.text) }
        let spool = BodySpool(in: store.cache.blobs, longest: store.cache.longestBody)
        body.withUnsafeBytes { spool.append($0) }
        guard let spooled = spool.finish() else {
            throw FetchError(.storeUnusable, "the body cannot be stored", url: plan.target.text)
        }
        let record = store.record(of: response, body: spooled, binding.storageClass, replacing: [], at: now)
        switch store.cache.perform(.append(record)) {
        case .stored: break
        case let outcome: throw FetchError(.storeUnusable, "\(outcome)", url: plan.target.text)
        }
    }

    private func prepare(_ request: Request, policy: CachePolicy) throws(FetchError) -> (FetchPlan, ResponseStore) {
        var request = request
        request.options.caching.cache = .at(directory)
        request.options.caching.policy = policy
        let plan = try planner.plan(request, into: .memory, wantsEvents: false)
        return (plan, try store())
    }
}

extension Coordinator {
    /// The response cache of this coordinator's store; nil when its configuration has none. With
    /// ``Configuration/downloadCache`` its fetches do not use it.
    public var cache: ResponseCache? {
        guard shelf.settings.isOn, let directory = shelf.directory else { return nil }
        return ResponseCache(shelf, planner, directory: directory)
    }

    /// The response cache of a store directory, which is made when it is first used. A relative path counts from the
    /// directory the process is in now.
    public func cache(at directory: String) -> ResponseCache {
        // No path is none, and not the directory the process is in.
        ResponseCache(shelf, planner, directory: directory.isEmpty ? directory : directory.absolutePath)
    }
}

extension ResponseStore {
    /// Removes on the calling thread, and waits for other processes that write: how many responses.
    func remove(_ change: CacheWrite) throws(FetchError) -> Int {
        do throws(StoreError) {
            return try cache.perform(change).removedCount()
        } catch {
            throw FetchError(.storeUnusable, "what is stored cannot be removed: \(error)")
        }
    }
}
