import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore
import TrawlTransfer
import TrawlURL

/// The worker's side of the cache: looks up, decides by the rules of `TrawlCache`, and writes on the store threads.
///
/// Bound to the transfer thread.
final class CacheKeeper: ResponseKeeper {
    let urls = URLParser()
    private let commits: CommitLog
    /// By their directories.
    private var stores: [ExactText: OpenedStore] = [:]
    private var uses: UInt64 = 0
    /// The last one: nearly always there is no other.
    private var last: (directory: ExactText, store: ResponseStore)?
    /// Stores that make room for others are closed in it, which waits for their writes and for disks.
    private let closing = BackgroundWork(name: "trawl-close")
    /// The changes that heads asked for and that are not committed yet.
    private var changes: Set<UInt64> = []
    /// What is stored after such a change, and commits that are held back until that is done.
    private var successors: [UInt64: UInt64] = [:]
    private var heldBack: [(commit: UInt64, isStored: Bool)] = []
    /// What was taken last of what is committed.
    private var taken: [(commit: UInt64, isStored: Bool)] = []
    /// The exchanges under way.
    private let crowd = Crowd()
    /// Commits of the cache that are waited for.
    private(set) var waiting = 0
    /// Where pieces of stored bodies lie while they are handed on.
    let memory = ChunkMemory()

    private static let manyExchanges = 8
    /// Stores open at a time. Each takes some descriptors, and addresses for all it could hold.
    private static let mostStores = 16
    /// For so long nobody tries again to open what could not be opened: too many open files, say, is a matter of
    /// moments.
    private static let patience = Duration.seconds(2)

    /// The coordinator has it open, so it is not opened for the first time, and mostly nobody is in the way.
    private static let openingPatience = Duration.seconds(1)

    init(commits: CommitLog) {
        self.commits = commits
    }

    deinit {
        for opened in stores.values { opened.store?.cache.close() }
        closing.finish()
    }

    func begin(_ lease: Lease, _ profile: TransferProfile, _ terms: CacheTerms, at now: WallTime) -> KeeperStart {
        guard let store = store(of: terms), let target = try? urls.parse(lease.url) else {
            guard lease.cache.contains(.sends) else { return .refuse(.nothingStored) }
            var fields = lease.fields
            var added = FieldLines()
            terms.policy(for: lease.cache).reload.tell(in: &added, of: fields)
            fields.append(contentsOf: added)
            return .request(fields, added: added, nil)
        }
        let partition = CachePartition(profile.tls, resolve: profile.resolve, connectTo: profile.connectTo)
        // By pattern: `==` of another module's enumeration is a call with both values.
        let hasBody = if case .none = lease.body { false } else { true }
        let dropsBodies = if case .discard = lease.sink { true } else { false }
        let request = CacheRequest(
            method: lease.method, target: target, fields: lease.fields, policy: terms.policy(for: lease.cache),
            credentials: lease.identity.isEmpty ? nil : lease.identity.withUnsafeBytes(store.rules.tag),
            sharesCookies: lease.cache.contains(.sharedCookies), partition: partition.bytes(for: target),
            hasBody: hasBody, decodesContent: profile.decoding == .streaming, tag: store.rules.tag)
        switch store.lookup(request, at: now, bodies: dropsBodies ? 0 : .max, candidates: true) {
        case .unsatisfiable:
            return .refuse(.nothingStored)
        case .serve(let hit):
            var report = CacheReport()
            report.source = hit.reuse.source
            report.wantsRevalidation = hit.reuse.revalidates
            func verified(_ body: StoredBody?) -> VerifiedBytes {
                VerifiedBytes(body, hit.range, in: memory) { store.cache.reportDamage(of: $0, hit.use) }
            }
            let bytes: any StoredBytes =
                dropsBodies
                ? LateBytes(hit.length) { store.body(of: hit.use).map(verified) } : verified(hit.body)
            return .answer(StoredAnswer(head: hit.head, body: bytes, report: report))
        case .send(let sending, let candidate):
            guard lease.cache.contains(.sends) else { return .refuse(.nothingStored) }
            let exchange = CacheExchange(
                self, crowd, store: store, request: request, sending: sending, candidate: candidate,
                storageClass: terms.storageClass, dropsBodies: dropsBodies, isDirect: lease.proxy == nil)
            return .request(store.rules.fieldsToSend(request, sending), added: sending.fields, exchange)
        }
    }

    func stopWaking() { commits.onCommit(nil) }

    func takeCommitted() -> [(commit: UInt64, isStored: Bool)] {
        waiting -= commits.take(into: &taken)
        if !changes.isEmpty { for (commit, _) in taken { changes.remove(commit) } }
        if successors.isEmpty { return taken }
        var committed = taken + heldBack
        heldBack = []
        committed.removeAll { end in
            guard let change = successors[end.commit] else { return false }
            if changes.contains(change) {
                heldBack.append(end)
                return true
            }
            successors[end.commit] = nil
            return false
        }
        return committed
    }

    /// Hands over what a head asks to be changed, long before its response ends perhaps.
    ///
    /// - Returns: The number of the commit of all of it, for `commit(of:)`; nil when there is nothing.
    func change(_ changes: [CacheWrite], in store: ResponseStore) -> UInt64? {
        if changes.isEmpty { return nil }
        let number = commits.next()
        waiting += 1
        self.changes.insert(number)
        if changes.count == 1 {
            submit(changes[0], to: store) { [commits] _ in
                commits.add(number, isStored: false, isOfCache: true)
            }
            return number
        }
        // Each is done in its own time: a long one in many commits.
        let left = Guarded(changes.count)
        let commits = commits
        for change in changes {
            submit(change, to: store) { _ in
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { commits.add(number, isStored: false, isOfCache: true) }
            }
        }
        return number
    }

    /// The commit that is still to be waited for after a change; nil when that is in the store already.
    func commit(of change: UInt64?) -> UInt64? {
        change.flatMap { changes.contains($0) ? $0 : nil }
    }

    /// The commit to wait for when something is stored after a change, whichever of the two is done last.
    func commit(of stored: UInt64, after change: UInt64?) -> UInt64 {
        if let change = commit(of: change) { successors[stored] = change }
        return stored
    }

    /// Hands a change to the store thread.
    ///
    /// - Returns: The number of the commit.
    func write(_ write: CacheWrite, to store: ResponseStore) -> UInt64 {
        let number = commits.next()
        waiting += 1
        let commits = commits
        submit(write, to: store) { outcome in
            if case .stored = outcome {
                commits.add(number, isStored: true, isOfCache: true)
            } else {
                commits.add(number, isStored: false, isOfCache: true)
            }
        }
        return number
    }

    private func submit(
        _ write: CacheWrite, to store: ResponseStore, then: @escaping @Sendable (CacheOutcome) -> Void
    ) {
        let (urgency, enough) = Self.haste(of: write, busy: crowd.count + waiting)
        store.cache.submit(write, urgency, enough: enough, then: then)
    }

    /// When a write is committed. One that is alone is not kept waiting; many are cheaper together. When most of those
    /// there are wait, nothing more is to come before some of them are done.
    ///
    /// - Parameter busy: How many exchanges the cache takes part in, and commits of it that are waited for.
    static func haste(of write: CacheWrite, busy: Int) -> (urgency: GroupedWrites.Urgency, enough: Int) {
        // What a validation brings is written in fewer steps than a response, so that fewer make up for a transaction.
        let enough = if case .replaceHeader = write { busy / 3 } else { busy * 3 / 4 }
        return (busy >= manyExchanges ? .soon : .now, enough)
    }

    /// The store of a directory; nil when it cannot be used, which costs nothing but the cache.
    private func store(of terms: CacheTerms) -> ResponseStore? {
        let directory = ExactText(terms.directory)
        if let last, last.directory == directory { return last.store }
        uses += 1
        if let last { stores[last.directory]?.lastUse = uses }
        if let known = stores[directory] {
            known.lastUse = uses
            if known.store != nil || MonotonicClock.now() < known.nextTry {
                last = known.store.map { (directory, $0) }
                return known.store
            }
        }
        var settings = CacheSettings()
        settings.budget = terms.budget
        // All other transfers wait as well.
        settings.openingPatience = Self.openingPatience
        let store = try? ResponseStore.open(directory: terms.directory, settings: settings)
        stores[directory] = nil
        // An exchange that is under way there stores nothing any more.
        if stores.count >= Self.mostStores, let least = stores.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            stores[least.key] = nil
            if let store = least.value.store { closing.add { store.cache.close() } }
        }
        stores[directory] = OpenedStore(store, uses, nextTry: MonotonicClock.now().advanced(by: Self.patience))
        last = store.map { (directory, $0) }
        return store
    }
}

/// A store that was opened, or could not be. Bound to the transfer thread.
private final class OpenedStore {
    let store: ResponseStore?
    /// When to try again what could not be opened.
    let nextTry: MonotonicInstant
    /// When it was last asked for, counted in such questions; those for the same store as before do not count.
    var lastUse: UInt64

    init(_ store: ResponseStore?, _ use: UInt64, nextTry: MonotonicInstant) {
        self.store = store
        self.nextTry = nextTry
        lastUse = use
    }
}

/// How many exchanges the cache takes part in at the moment. Bound to the transfer thread.
final class Crowd {
    private(set) var count = 0

    func enter() { count += 1 }
    func leave() { count -= 1 }
}

extension HopFailure {
    static var nothingStored: HopFailure {
        HopFailure(.storedResponse, detail: "nothing is stored that could answer")
    }
}

extension CacheTerms {
    /// What the caller wants, in the words of the rules.
    func policy(for use: CacheAccess) -> CachePolicy {
        var policy = CachePolicy(
            CachePolicy.Options(rawValue: options), reload: CachePolicy.Reload(rawValue: reload) ?? .none)
        if !use.contains(.reads) { policy.options.insert(.doNotRead) }
        if !use.contains(.writes) { policy.options.insert(.doNotWrite) }
        policy.respectsCacheControl = respectsCacheControl
        policy.usesHeuristics = usesHeuristics
        policy.secondsToCache = lifetime
        policy.forcesFallback = forcesFallback
        policy.stopsAtEqualTag = stopsAtEqualTag
        return policy
    }

    var storageClass: StorageClass {
        session.map(StorageClass.session) ?? .permanent
    }
}
