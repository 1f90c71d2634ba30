import TrawlFrontier

/// What each host is spared, beside the number of connections (``Configuration/connectionsPerHost``).
///
/// A host is an origin: scheme, host and port; or an address (``key``). What is said here holds over all workers.
/// `docs/politeness.md` has the rules.
public struct HostPoliteness: Sendable, Hashable, Codable {
    /// What makes a host. Default ``Key/origin``.
    public var key = Key.origin
    /// The distance between requests to one host. Default none.
    public var delay = HostDelay.none
    /// Whether a host that fails again and again is left alone for a while; nil is never. Default nil.
    public var circuit: Circuit?
    /// Whether a host is left alone for as long as it asks for by `Retry-After` with a status of 429 or 503 (RFC 9110
    /// §10.2.3). Requests to it wait meanwhile. Default true.
    public var respectsRetryAfter = true
    /// The most that `Retry-After` is taken for. Default a minute.
    public var longestRetryAfter = Duration.seconds(60)

    /// The defaults.
    public init() {}

    /// Reads what was written down; the rest is as by default.
    public init(from decoder: any Decoder) throws {
        self.init()
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        try stored.read(.key, into: &key)
        try stored.read(.delay, into: &delay)
        try stored.read(.circuit, into: &circuit)
        try stored.read(.respectsRetryAfter, into: &respectsRetryAfter)
        try stored.read(.longestRetryAfter, into: &longestRetryAfter)
    }

    /// What counts as one host.
    public enum Key: String, Sendable, Hashable, Codable {
        /// Scheme, host and port.
        case origin
        /// The IP address that the host is found at, whatever its names, schemes and ports.
        ///
        /// A name is looked up before its first request is queued, unless the request says where it is
        /// (``RequestOptions/Transport/resolve``). All addresses of one name are one host. Requests through a proxy,
        /// which asks for the address itself, count by origin. ``Configuration/bandwidthPerHost`` goes by the same.
        case address
    }

    /// When a host that fails is left alone, and for how long.
    ///
    /// A failure is no connection, a limit of time, a connection that is lost, and the statuses 429, 502, 503 and 504.
    /// After too many the circuit is open: no request starts for ``firstPause``. Then one goes out alone. An answer
    /// closes the circuit, a failure opens it for twice as long.
    public struct Circuit: Sendable, Hashable, Codable {
        /// Failures in a row that open it; 0 is no number. Default 5.
        public var failuresInRow = 5
        /// The part of the last requests whose failure opens it, above 0 and up to 1; 0 is no part. Default a half.
        public var failureShare = 0.5
        /// How many of the last requests that is a part of, 1 to 64. Default 20.
        public var shareOf = 20
        /// Whether every status of 500 and more is a failure. Default false: a 500 is about one resource.
        public var countsServerErrors = false
        /// How long it is open at first. Chance may take off half. Default 1 s.
        public var firstPause = Duration.seconds(1)
        /// How long it is open at most. Default ten minutes.
        public var longestPause = Duration.seconds(600)
        /// After how many openings without an answer in between the next failure gives the host up, at most 254:
        /// requests to it fail with ``FetchError/Code/hostGivenUp`` until ``Coordinator/restoreHost(of:)``. Default
        /// nil: never.
        public var retiresAfter: Int?

        /// The defaults.
        public init() {}

        /// Reads what was written down; the rest is as by default.
        public init(from decoder: any Decoder) throws {
            self.init()
            let stored = try decoder.container(keyedBy: CodingKeys.self)
            try stored.read(.failuresInRow, into: &failuresInRow)
            try stored.read(.failureShare, into: &failureShare)
            try stored.read(.shareOf, into: &shareOf)
            try stored.read(.countsServerErrors, into: &countsServerErrors)
            try stored.read(.firstPause, into: &firstPause)
            try stored.read(.longestPause, into: &longestPause)
            try stored.read(.retiresAfter, into: &retiresAfter)
        }

        var policy: CircuitPolicy {
            CircuitPolicy(
                failuresInRow: failuresInRow, failureShare: failureShare, shareOf: shareOf,
                backoff: Backoff(first: firstPause, longest: longestPause), retiresAfter: retiresAfter)
        }
    }

    /// The rules of the queues.
    func rules(connectionsPerHost: Int) -> Politeness {
        Politeness(limitPerHost: connectionsPerHost, delay: delay.rule, circuit: circuit?.policy)
    }

    /// What is wrong with it, or nil.
    var problem: String? {
        if let problem = delay.problem { return problem }
        if longestRetryAfter < .zero { return "the longest Retry-After must not be negative" }
        guard let circuit else { return nil }
        if circuit.failuresInRow < 0 {
            return "the failures of a circuit must be 0 or more, not \(circuit.failuresInRow)"
        }
        if !(0...1).contains(circuit.failureShare) {
            return "the share of failures must be 0 to 1, not \(circuit.failureShare)"
        }
        if !(1...64).contains(circuit.shareOf) { return "a share of failures is of 1 to 64, not \(circuit.shareOf)" }
        if circuit.firstPause <= .zero || circuit.longestPause < circuit.firstPause {
            return "the pauses of a circuit must be above zero, the longest not below the first"
        }
        if let count = circuit.retiresAfter, !(0...254).contains(count) {
            return "a circuit gives a host up after 0 to 254 openings, not \(count)"
        }
        return nil
    }
}
