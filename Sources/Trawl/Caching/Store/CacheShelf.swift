import Glibc
import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore

/// The caches of a coordinator: its own, and those that requests name. Each is opened when it is first needed.
///
/// A cache that cannot be opened is none: the fetch goes on without, and ``Coordinator/cacheProblem`` says why.
final class CacheShelf: Sendable {
    fileprivate struct OpenStore {
        let store: ResponseStore
        /// Begun when something is first stored for it.
        var session: OpenSession?
        /// When it was last asked for, counted in such questions.
        var lastUse: UInt64 = 0
    }

    fileprivate struct State {
        /// By their directories, as all that follows.
        var stores: [ExactText: OpenStore] = [:]
        /// When to try again what could not be opened.
        var failures: [ExactText: MonotonicInstant] = [:]
        var uses: UInt64 = 0
        var problem: FetchError?
        /// Threads that remove what dead sessions left.
        var purges: [NamedThread] = []
        /// Who waits for stores that are being opened.
        var waiting: [ExactText: [@Sendable () -> Void]] = [:]
        var isClosed = false
    }

    /// What is to be closed.
    fileprivate struct Leavings: Sendable {
        let stores: [OpenStore]
        let purges: [NamedThread]

        /// Ends the sessions, writes what hits left behind, and closes. Once.
        func close() {
            for thread in purges { thread.join() }
            for opened in stores {
                if let session = opened.session { opened.store.cache.endSession(session) }
                opened.store.cache.close()
            }
        }
    }

    /// Stores open at a time. Each takes some descriptors, and addresses for all it could hold.
    private static let mostStores = 16
    /// For so long nobody tries again to open what could not be opened: too many open files, say, is a matter of
    /// moments.
    private static let patience = Duration.seconds(2)
    private static let mostFailures = 256

    /// The directory of the coordinator's own store; nil for none.
    let directory: String?
    let settings: Configuration.Cache
    /// The coordinator's lifetime, in all stores.
    let sessionID = SessionID.make()
    /// Whether the coordinator's cache is in the store, and not the program's own.
    private let hasOwnCache: Bool
    /// What programs have done by hand.
    let work = StoreWork()
    private let state = Guarded(State())
    /// Held while a session is begun.
    private let beginning = PlainMutex()

    init(_ configuration: Configuration) {
        settings = configuration.cache
        hasOwnCache = configuration.downloadCache == nil
        directory = configuration.store.resolvedDirectory
        if configuration.store.isHomeless, settings.isOn, hasOwnCache {
            let reason = "neither XDG_CACHE_HOME nor HOME names a directory; nor are cookies kept"
            state.withLock { $0.problem = FetchError(.storeUnusable, reason) }
        }
    }

    deinit {
        let left = state.withLock { $0.takeAll() }
        // None when it was closed. Else nobody uses them any more, and a thread of its own may wait for disks.
        if left.stores.isEmpty { return }
        _ = try? NamedThread.start(name: "trawl-close") { [work] in
            work.close()
            left.close()
        }
    }

    /// How fetches of these options use a cache; nil when they use none.
    func binding(for options: RequestOptions) -> CacheBinding? {
        // What a server says to the owner of a certificate is for no other.
        guard options.tls.identity == nil else { return nil }
        let path: String
        switch options.caching.cache {
        case .none: return nil
        case .shared:
            guard settings.isOn, hasOwnCache, let directory else { return nil }
            path = directory
        case .at(let directory): path = directory.absolutePath
        }
        return CacheBinding(self, directory: path, options)
    }

    /// The store of a directory, if it is open already: for threads that must not wait.
    func openStore(_ directory: String) -> ResponseStore? {
        state.withLock { $0.use(ExactText(directory)) }
    }

    /// The store of a directory, opened now if it is not yet; nil when it cannot be used.
    func store(_ directory: String) -> ResponseStore? {
        openStore(directory) ?? open(directory)
    }

    /// Opens the coordinator's own store where it is required.
    ///
    /// - Throws: Why it cannot be used; then nothing is open.
    func openRequired() throws(FetchError) {
        guard settings.isOn, settings.isRequired else { return }
        if let directory { _ = store(directory) }
        guard let problem else { return }
        close()
        throw problem
    }

    /// Has a store opened that is not open yet, by a thread of its own: opening waits for disks, and for other
    /// processes as long as ten seconds.
    ///
    /// - Parameter then: Called once, from another thread, when it is open or cannot be.
    /// - Returns: False when there is nothing to wait for: it is open, or was tried a moment ago.
    func open(_ directory: String, then: @escaping @Sendable () -> Void) -> Bool {
        let (now, place) = (MonotonicClock.now(), ExactText(directory))
        let (waits, isFirst) = state.withLock { state in
            guard state.mayTry(place, at: now), state.stores[place] == nil else { return (false, false) }
            let isFirst = state.waiting[place] == nil
            state.waiting[place, default: []].append(then)
            return (true, isFirst)
        }
        if !isFirst { return waits }
        do throws(SystemError) {
            // It ends by itself. What it opens when the shelf is closed already, it closes.
            _ = try NamedThread.start(name: "trawl-open") { [self] in
                _ = store(directory)
                endWaiting(for: directory)
            }
        } catch {
            noteFailure(.system(error), of: directory)
            endWaiting(for: directory)
        }
        return true
    }

    private func endWaiting(for directory: String) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: ExactText(directory)) } ?? []
        for then in waiting { then() }
    }

    /// Whether what is stored for the coordinator's session ends with it: its session is begun in that store, which is
    /// open, or was now.
    func holdsSession(_ directory: String) -> Bool {
        let place = ExactText(directory)
        if state.withLock({ $0.stores[place]?.session != nil }) { return true }
        guard let store = openStore(directory) else { return false }
        return beginning.holding {
            if state.withLock({ $0.stores[place]?.session != nil }) { return true }
            guard let session = try? store.cache.beginSession(sessionID) else { return false }
            let isKept = state.withLock { state in
                guard state.stores[place]?.store === store else { return false }
                state.stores[place]?.session = session
                return true
            }
            if !isKept { store.cache.endSession(session) }
            return isKept
        }
    }

    private func open(_ directory: String) -> ResponseStore? {
        let (now, place) = (MonotonicClock.now(), ExactText(directory))
        let (known, mayTry) = state.withLock { state in
            (state.use(place), state.mayTry(place, at: now))
        }
        if known != nil || !mayTry { return known }
        var cacheSettings = CacheSettings()
        cacheSettings.budget = settings.byteBudget
        let store: ResponseStore
        do throws(StoreError) {
            store = try ResponseStore.open(directory: directory, settings: cacheSettings)
        } catch {
            noteFailure(error, of: directory)
            return nil
        }
        let (kept, superfluous) = state.withLock { state -> (ResponseStore?, ResponseStore?) in
            if state.isClosed { return (nil, store) }
            // Another thread may have been faster.
            if let known = state.use(place) { return (known, store) }
            let superfluous = state.takeLeastUsed(
                whenAbove: Self.mostStores - 1, but: self.directory.map { ExactText($0) })
            state.stores[place] = OpenStore(store: store)
            state.failures[place] = nil
            _ = state.use(place)
            return (store, superfluous)
        }
        superfluous?.cache.close()
        if kept === store { purgeDeadSessions(of: store) }
        return kept
    }

    private func noteFailure(_ error: StoreError, of directory: String) {
        state.withLock { state in
            if state.failures.count >= Self.mostFailures { state.failures = [:] }
            // From now on: it may have taken long to find out.
            state.failures[ExactText(directory)] = MonotonicClock.now().advanced(by: Self.patience)
            state.problem = FetchError(.storeUnusable, "\(directory): \(error)")
        }
    }

    /// Removes what sessions stored whose coordinators are dead, with nobody waiting.
    private func purgeDeadSessions(of store: ResponseStore) {
        guard store.cache.hasUnheldSession,
            let thread = try? NamedThread.start(name: "trawl-purge", { store.cache.purgeDeadSessions() })
        else { return }
        let isKept = state.withLock { state in
            if !state.isClosed { state.purges.append(thread) }
            return !state.isClosed
        }
        if !isKept { thread.join() }
    }

    /// Whether nothing is opened any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Why a cache could not be used, when one could not: opened, or opened again after somebody removed its files.
    var problem: FetchError? {
        let (problem, stores) = state.withLock { ($0.problem, $0.stores) }
        if let problem { return problem }
        for (directory, opened) in stores {
            if let error = opened.store.cache.problem {
                return FetchError(.storeUnusable, "\(directory.text): \(error)")
            }
        }
        return nil
    }

    /// Removes what is stored for the coordinator's session, in all caches where it has one; the session goes on.
    ///
    /// - Throws: `storeUnusable` when that failed in one of them; it is done in the others.
    func clearSession() async throws(FetchError) {
        let stores = state.withLock { state in state.stores.values.filter { $0.session != nil }.map(\.store) }
        if stores.isEmpty { return }
        let filter = CacheFilter(storageClass: .session(sessionID))
        try await work.run { () throws(FetchError) in
            var problem: FetchError?
            for store in stores {
                do throws(FetchError) {
                    _ = try store.remove(.removeMatching(filter))
                } catch {
                    problem = error
                }
            }
            if let problem { throw problem }
        }
    }

    /// Runs `body` while nobody is in the middle of a write to one of the caches; after a second all the same. This
    /// process begins no other before `Environment.resumeWrites`.
    func betweenWrites(_ body: () -> Void) {
        let stores = state.withLock { state in state.stores.values.map(\.store.cache) }
        CacheStore.betweenWrites(of: stores[...], patience: .seconds(1), body)
    }

    /// Writes what hits left behind, and closes.
    func close() {
        work.close()
        // Asked for when all is over.
        let problem = problem
        let left = state.withLock { state in
            state.problem = problem
            return state.takeAll()
        }
        left.close()
    }
}

extension CacheShelf.State {
    /// Whether a store may be opened that is not.
    fileprivate func mayTry(_ directory: ExactText, at now: MonotonicInstant) -> Bool {
        !isClosed && failures[directory].map { $0 <= now } ?? true
    }

    /// Takes out what is open; nothing is opened any more.
    fileprivate mutating func takeAll() -> CacheShelf.Leavings {
        defer {
            stores = [:]
            purges = []
            isClosed = true
        }
        return CacheShelf.Leavings(stores: Array(stores.values), purges: purges)
    }

    fileprivate mutating func use(_ directory: ExactText) -> ResponseStore? {
        if stores.count > 1 {
            uses += 1
            stores[directory]?.lastUse = uses
        }
        return stores[directory]?.store
    }

    /// Takes out the store that nobody asked for the longest; not one whose session goes on.
    fileprivate mutating func takeLeastUsed(whenAbove most: Int, but own: ExactText?) -> ResponseStore? {
        guard stores.count > most else { return nil }
        let least = stores.filter { $0.key != own && $0.value.session == nil }.min {
            $0.value.lastUse < $1.value.lastUse
        }
        return least.flatMap { stores.removeValue(forKey: $0.key)?.store }
    }
}

extension Configuration.Store {
    /// Whether no home is known, and nobody said by an `XDG_CACHE_HOME` that is set and empty that this is meant.
    fileprivate var isHomeless: Bool {
        guard self == .userDefault, resolvedDirectory == nil else { return false }
        return getenv("XDG_CACHE_HOME").map { $0.pointee != 0 } ?? true
    }

    /// The directory, absolute; nil for none, and where no home is known.
    package var resolvedDirectory: String? {
        switch self {
        case .none: return nil
        case .directory(let path): return path.absolutePath
        case .userDefault:
            // XDG Base Directory Specification: a relative path there is to be ignored; so is one that is not UTF-8,
            // which would be another.
            if let cache = getenv("XDG_CACHE_HOME").flatMap({ String(validatingCString: $0) }), cache.hasPrefix("/") {
                return cache + "/trawl"
            }
            if let home = getenv("HOME").flatMap({ String(validatingCString: $0) }), home.hasPrefix("/") {
                return home + "/.cache/trawl"
            }
            return nil
        }
    }
}

extension String {
    /// The path from the root; relative ones count from the directory the process is in now.
    var absolutePath: String {
        if hasPrefix("/") { return self }
        guard let here = try? WorkingDirectory.path() else { return "/" + self }
        return here + "/" + self
    }
}
