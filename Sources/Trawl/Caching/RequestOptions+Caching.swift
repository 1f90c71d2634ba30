extension RequestOptions {
    /// Whether and how the response cache is used.
    public struct Caching: Sendable, Hashable, Codable {
        /// Which cache. Default ``Choice/shared``.
        public var cache = Choice.shared
        /// What may answer. Default empty: the coordinator's.
        public var policy: CachePolicy = []
        /// For how long responses are fresh, in whole seconds, whatever they say; below one they are stale at once.
        /// Default nil: RFC 9111 §4.2.
        public var lifetime: Duration?
        /// How long what is stored stays. Default nil: the coordinator's.
        public var storage: Storage?
        /// Whether what server and request say about storing and reuse counts. Default true. When false, every response
        /// that can be kept is, and any stored one answers.
        public var respectsCacheControl = true
        /// Whether a response without an explicit lifetime is fresh for a tenth of the age of its `Last-Modified`, a
        /// day at most (RFC 9111 §4.2.2). Default true.
        public var usesHeuristics = true
        /// Whether bodies that go to files are stored too. Default false, as in the URL Loading System; the command
        /// stores them.
        public var storesDownloads = false
        /// Whether ``CachePolicy/fallBackToCacheIfLoadFails`` also uses what says `must-revalidate` or `no-cache`.
        /// Default false.
        public var forcesFallback = false
        /// Whether the rest of a body is left on the way when the server answers a question about a stored response
        /// with the very same: a 200 with the strong entity tag it was asked with, as servers do that know no
        /// conditions. What is stored answers then, freshened as by a 304, at the price of the connection. A cache of
        /// the program's own does not spare the bytes. Default false.
        public var stopsAtEqualTag = false
        /// What ``CachePolicy/doNotLoad`` gives without a stored response: ``FetchError/Code/notCached`` when true,
        /// else an empty response of status 504 (RFC 9111 §5.2.1.7). Default false.
        public var failsWhenNotCached = false

        /// The defaults.
        public init() {}

        /// Reads what was written down; the rest is as by default.
        public init(from decoder: any Decoder) throws {
            self.init()
            let stored = try decoder.container(keyedBy: CodingKeys.self)
            try stored.read(.cache, into: &cache)
            try stored.read(.policy, into: &policy)
            try stored.read(.lifetime, into: &lifetime)
            try stored.read(.storage, into: &storage)
            try stored.read(.respectsCacheControl, into: &respectsCacheControl)
            try stored.read(.usesHeuristics, into: &usesHeuristics)
            try stored.read(.storesDownloads, into: &storesDownloads)
            try stored.read(.forcesFallback, into: &forcesFallback)
            try stored.read(.stopsAtEqualTag, into: &stopsAtEqualTag)
            try stored.read(.failsWhenNotCached, into: &failsWhenNotCached)
        }

        /// A cache.
        public enum Choice: Sendable, Hashable, Codable {
            /// The coordinator's.
            case shared
            /// The one in that store directory, which is made if it is not there. A fetch with an empty path fails with
            /// ``FetchError/Code/badRequest``.
            case at(String)
            /// None.
            case none
        }

        /// How long what is stored stays.
        public enum Storage: String, Sendable, Hashable, Codable {
            /// Until it is removed or makes room.
            case permanent
            /// Until the coordinator ends.
            case session
        }
    }
}

extension RequestOptions.Caching.Choice {
    /// What is wrong with it, or nil.
    var problem: String? {
        guard case .at(let directory) = self, directory.isEmpty || directory.utf8.contains(0) else { return nil }
        return "the directory of the cache has no usable path"
    }
}

extension Request {
    /// What may answer: ``RequestOptions/Caching/policy``.
    public var cachePolicy: CachePolicy {
        get { options.caching.policy }
        set { options.caching.policy = newValue }
    }
}
