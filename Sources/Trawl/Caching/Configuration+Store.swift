import TrawlPlatform

extension Configuration {
    /// Where cache, cookies and hosts that want secure transport are kept. Credentials never are.
    public enum Store: Sendable, Hashable {
        /// `$XDG_CACHE_HOME/trawl`, else `~/.cache/trawl`: one for each user, shared by everything that user runs.
        case userDefault
        /// That directory. It is made if it is not there, with those above it.
        case directory(String)
        /// Nowhere: nothing is read or stored, and nothing touches the disk.
        case none

        /// Where configurations keep things that say nothing else; ``userDefault`` until it is replaced. For programs
        /// that want all their coordinators, those of libraries they use among them, on one store. What was made before
        /// keeps its own.
        public static var shared: Store {
            get { sharedStore.withLock { $0 } }
            set { sharedStore.withLock { $0 = newValue } }
        }

        private static let sharedStore = Guarded(Store.userDefault)
    }

    /// How the response cache works.
    public struct Cache: Sendable, Hashable {
        /// Whether requests use it unless they say otherwise. Default true.
        public var isOn = true
        /// The policy of requests that have none. Default empty: RFC 9111 as it stands.
        public var policy: CachePolicy = []
        /// How long what is stored stays, for requests that do not say. Default
        /// ``RequestOptions/Caching/Storage/permanent``.
        public var storage = RequestOptions.Caching.Storage.permanent
        /// Bytes it may take on disk; what was not used for longest makes room. Default 1 GiB.
        public var byteBudget: UInt64 = 1 << 30
        /// Whether a coordinator whose store cannot be used, because a file is in its way for example, is not made:
        /// ``FetchError/Code/storeUnusable``. Default false: it goes on without a cache, and
        /// ``Coordinator/cacheProblem`` says why.
        public var isRequired = false

        /// The defaults.
        public init() {}
    }
}
