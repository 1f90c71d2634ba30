import TrawlFrontier

extension RequestOptions {
    /// Whether a fetch is tried again after a failure that may pass, and when. Default: it is not.
    ///
    /// The failures are limits of time (but the one for the whole fetch), names and addresses that cannot be reached,
    /// lost connections, and the statuses 408, 429, 500, 502, 503 and 504. A request is repeated only when that is
    /// safe: its method is idempotent (RFC 9110 §9.2.2), or it was not sent. Nothing of a response that is not the last
    /// one is delivered. Responses of the cache are never a reason to try again.
    ///
    /// Waits are what `Retry-After` asks for, or ``delay``, or 1 s, 2 s and so on to ten minutes, of which chance may
    /// take off half.
    ///
    /// A fetch with a negative time or number in them fails with ``FetchError/Code/badRequest``.
    public struct Retry: Sendable, Hashable, Codable {
        /// How many attempts may follow the first; 0 is none.
        public var count: Int
        /// No attempt starts later than this after the first did, not counting the time for which the fetch was
        /// suspended or the program decided; nil is no bound. One that would have to, since its host is left alone for
        /// longer, say, is not waited for: what the last one came to is the answer. Where that was a response that had
        /// been passed over by then, the fetch fails with ``FetchError/Code/timeout``. One whose own wait ends in time has
        /// a second from there to begin in, should all workers be busy.
        public var longestTime: Duration?
        /// The same wait each time; nil lets waits double.
        public var delay: Duration?
        /// The most that `Retry-After` is taken for. Default ten minutes.
        public var longestRetryAfter = Duration.seconds(600)
        /// Whether a refused connection may pass. Default false.
        public var retriesRefusedConnections = false
        /// Whether failures that will hardly pass are tried again too: TLS, broken responses. Default false.
        public var retriesAllErrors = false
        /// Whether every status of 400 and more is a failure, for ``retriesAllErrors``. Default false.
        public var failsOnErrorStatus = false
        /// Whether requests are repeated that are not idempotent: the caller knows that it does no harm. Default false.
        public var repeatsAnyMethod = false

        /// A number of further attempts.
        public init(_ count: Int = 0) { self.count = count }

        /// Reads what was written down; the rest is as by default.
        public init(from decoder: any Decoder) throws {
            self.init()
            let stored = try decoder.container(keyedBy: CodingKeys.self)
            try stored.read(.count, into: &count)
            try stored.read(.longestTime, into: &longestTime)
            try stored.read(.delay, into: &delay)
            try stored.read(.longestRetryAfter, into: &longestRetryAfter)
            try stored.read(.retriesRefusedConnections, into: &retriesRefusedConnections)
            try stored.read(.retriesAllErrors, into: &retriesAllErrors)
            try stored.read(.failsOnErrorStatus, into: &failsOnErrorStatus)
            try stored.read(.repeatsAnyMethod, into: &repeatsAnyMethod)
        }

        /// The rules; nil when nothing is tried again.
        var policy: RetryPolicy? {
            guard count > 0 else { return nil }
            return RetryPolicy(
                retries: count, longestTime: longestTime, fixedDelay: delay,
                longestRetryAfter: longestRetryAfter, retriesAllErrors: retriesAllErrors,
                retriesRefusedConnections: retriesRefusedConnections, failsOnErrorStatus: failsOnErrorStatus,
                repeatsAnyMethod: repeatsAnyMethod)
        }

        /// Whether another attempt may follow a response of this status, should one be left.
        package func mayPass(status: Int) -> Bool {
            policy?.mayPass(UInt16(clamping: status)) ?? false
        }
    }
}
