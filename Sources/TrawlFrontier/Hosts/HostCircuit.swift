/// Whether a host that fails is asked at all.
///
/// *Closed*, hops run and their ends are counted. After too many failures it is *open*: nothing runs for a while. Then
/// it is *half open*: one hop, the *probe*, goes out alone; an answer closes the circuit, a failure opens it again, for
/// twice as long. While it is not closed nothing but the probe counts, since the others are of the time before.
package struct HostCircuit: Sendable, Hashable {
    /// What the caller has to do.
    package enum Action: Sendable, Hashable {
        /// Nothing.
        case none
        /// Start no hop of this host for so long.
        case open(Duration)
        /// The host is as any other again.
        case close
        /// The host is given up.
        case retire
    }

    /// How it stands.
    package enum State: Sendable, Hashable {
        /// Hops run.
        case closed
        /// Nothing runs.
        case open
        /// One hop may run.
        case halfOpen
        /// One hop runs.
        case probing
    }

    /// How it stands.
    package private(set) var state = State.closed
    /// Failures in a row since the last answer, as far as they count.
    private var run: UInt16 = 0
    /// How often it opened since it was last closed.
    private var openings: UInt8 = 0
    /// How many of the latest ends are known, at most 64.
    private var known: UInt8 = 0
    /// The latest ends, the last one in the lowest bit; 1 is a failure.
    private var window: UInt64 = 0

    /// A closed circuit that knows of nothing.
    package init() {}

    /// Whether nothing is known that a new circuit would not know.
    package var isFresh: Bool { self == HostCircuit() }

    /// A hop that is not the probe ended.
    ///
    /// - Parameter random: From 0 to 1.
    package mutating func ended(_ outcome: HostOutcome, by policy: CircuitPolicy, random: Double) -> Action {
        guard state == .closed, outcome != .unknown else { return .none }
        let isFailure = outcome == .failed
        window = window << 1 | (isFailure ? 1 : 0)
        known = min(known + 1, 64)
        guard isFailure else {
            run = 0
            return .none
        }
        run = run == .max ? run : run + 1
        return policy.opens(afterRun: Int(run), window: window, known: Int(known)) ? open(by: policy, random) : .none
    }

    /// The time for which it was open is over.
    package mutating func waited() {
        if state == .open { state = .halfOpen }
    }

    /// A hop of the host starts. Returns whether it is the probe.
    package mutating func started() -> Bool {
        guard state == .halfOpen else { return false }
        state = .probing
        return true
    }

    /// The hop that was to be the probe did not start after all.
    package mutating func probeDidNotStart() {
        if state == .probing { state = .halfOpen }
    }

    /// The probe ended. When its end says nothing, the next hop is the probe.
    ///
    /// - Parameter random: From 0 to 1.
    package mutating func probeEnded(_ outcome: HostOutcome, by policy: CircuitPolicy, random: Double) -> Action {
        guard state == .probing else { return .none }
        switch outcome {
        case .answered:
            self = HostCircuit()
            return .close
        case .failed:
            return open(by: policy, random)
        case .unknown:
            probeDidNotStart()
            return .none
        }
    }

    private mutating func open(by policy: CircuitPolicy, _ random: Double) -> Action {
        state = .open
        openings = openings == .max ? openings : openings + 1
        if let most = policy.retiresAfter, Int(openings) > most { return .retire }
        return .open(policy.backoff.delay(afterFailures: Int(openings), random: random))
    }
}

/// When a host's circuit opens, and for how long.
package struct CircuitPolicy: Sendable, Hashable {
    /// Failures in a row that open it; 0 is no number.
    package var failuresInRow: Int
    /// The part of the latest ends, above 0 and up to 1, whose failure opens it; 0 is no part.
    package var failureShare: Double
    /// How many of the latest ends the share is of, 1 to 64. With fewer known it does not count.
    package var shareOf: Int
    /// How long it stays open, from one opening without an answer to the next.
    package var backoff: Backoff
    /// Openings without an answer after which the next failure gives the host up, at most 254; nil is never.
    package var retiresAfter: Int?

    /// A policy; by default five failures in a row, or half of the last twenty, and 1 s to 10 min.
    package init(
        failuresInRow: Int = 5, failureShare: Double = 0.5, shareOf: Int = 20,
        backoff: Backoff = Backoff(first: .seconds(1), longest: .seconds(600)), retiresAfter: Int? = nil
    ) {
        self.failuresInRow = failuresInRow
        self.failureShare = failureShare
        self.shareOf = min(max(1, shareOf), 64)
        self.backoff = backoff
        self.retiresAfter = retiresAfter.map { min(max(0, $0), 254) }
    }

    fileprivate func opens(afterRun run: Int, window: UInt64, known: Int) -> Bool {
        if failuresInRow > 0, run >= failuresInRow { return true }
        guard failureShare > 0, known >= shareOf else { return false }
        let failures = (window & (.max >> UInt64(64 - shareOf))).nonzeroBitCount
        return Double(failures) >= failureShare * Double(shareOf)
    }
}
