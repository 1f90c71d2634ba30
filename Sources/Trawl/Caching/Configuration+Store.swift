extension Configuration {
    /// Where cache, cookies and credentials are kept.
    public enum Store: Sendable, Hashable {
        /// `$XDG_CACHE_HOME/trawl`, else `~/.cache/trawl`: one for each user, shared by everything that user runs.
        case userDefault
        /// That directory. It is made if it is not there; its parent must be.
        case directory(String)
        /// Nowhere: nothing is read or stored, and nothing touches the disk.
        case none
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

        /// The defaults.
        public init() {}
    }
}
