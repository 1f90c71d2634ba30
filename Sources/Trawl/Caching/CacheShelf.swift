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
    private struct OpenStore {
        let store: ResponseStore
        /// Begun when something is first stored for it.
        var session: CacheSession?
    }

    private struct State {
        var stores: [String: OpenStore?] = [:]
        var problem: FetchError?
        var isClosed = false
    }

    /// The directory of the coordinator's own store; nil for none.
    let directory: String?
    let settings: Configuration.Cache
    /// Whether the coordinator's cache is in the store, and not the program's own.
    private let hasOwnCache: Bool
    private let state = Guarded(State())

    init(_ configuration: Configuration) {
        settings = configuration.cache
        hasOwnCache = configuration.downloadCache == nil
        directory = configuration.store.resolvedDirectory
    }

    /// How fetches of these options use a cache; nil when they use none.
    func binding(for options: RequestOptions) -> CacheBinding? {
        // What a server says to the owner of a certificate is for no other.
        guard options.transport.clientCertificate == nil else { return nil }
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

    /// The store of a directory; nil when it cannot be used.
    func store(_ directory: String) -> ResponseStore? {
        state.withLock { open(directory, &$0)?.store }
    }

    /// The coordinator's lifetime, for what is stored with it; nil when the store cannot be used or a session cannot be
    /// begun, as on a full disk.
    func session(_ directory: String) -> SessionID? {
        state.withLock { state in
            guard var opened = open(directory, &state) else { return nil }
            if opened.session == nil {
                opened.session = try? opened.store.cache.beginSession()
                state.stores[directory] = .some(opened)
            }
            return opened.session?.id
        }
    }

    private func open(_ directory: String, _ state: inout State) -> OpenStore? {
        if let known = state.stores[directory] { return known }
        guard !state.isClosed else { return nil }
        var cacheSettings = CacheSettings()
        cacheSettings.budget = settings.byteBudget
        var opened: OpenStore?
        do throws(StoreError) {
            let store = try ResponseStore.open(directory: directory, settings: cacheSettings)
            // What coordinators that were killed had stored for as long as they live.
            store.cache.purgeDeadSessions()
            opened = OpenStore(store: store)
        } catch {
            state.problem = FetchError(.storeUnusable, "\(directory): \(error)")
        }
        state.stores[directory] = .some(opened)
        return opened
    }

    /// Why a cache could not be used, when one could not.
    var problem: FetchError? { state.withLock { $0.problem } }

    /// Runs `body` while nobody is in the middle of a write to one of the caches; after a second all the same.
    func betweenWrites(_ body: () -> Void) {
        let stores = state.withLock { state in state.stores.values.compactMap { $0?.store.cache } }
        CacheStore.betweenWrites(of: stores[...], patience: .seconds(1), body)
    }

    /// Writes what hits left behind, and closes.
    func close() {
        let stores = state.withLock { state in
            defer {
                state.stores = [:]
                state.isClosed = true
            }
            return state.stores.values.compactMap { $0 }
        }
        for opened in stores {
            if let session = opened.session { opened.store.cache.endSession(session) }
            opened.store.cache.close()
        }
    }
}

extension Configuration.Store {
    /// The directory, absolute; nil for none, and where no home is known.
    package var resolvedDirectory: String? {
        switch self {
        case .none: return nil
        case .directory(let path): return path.absolutePath
        case .userDefault:
            // XDG Base Directory Specification: a relative path there is to be ignored.
            if let cache = getenv("XDG_CACHE_HOME").map({ String(cString: $0) }), cache.hasPrefix("/") {
                return cache + "/trawl"
            }
            if let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") {
                return home + "/.cache/trawl"
            }
            return nil
        }
    }
}

extension String {
    /// The path from the root; relative ones count from the directory the process is in now.
    fileprivate var absolutePath: String {
        if hasPrefix("/") { return self }
        guard let here = getcwd(nil, 0) else { return "/" + self }
        defer { free(here) }
        return String(cString: here) + "/" + self
    }
}
