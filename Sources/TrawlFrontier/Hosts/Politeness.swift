/// What hosts are spared: the rules of ``HostQueues``, for all hosts or for one.
package struct Politeness: Sendable, Hashable {
    /// Hops in process that one host may have; 0 is no limit.
    package var limitPerHost: Int
    /// The distance between the hops of one host.
    package var delay: StartDelay
    /// When a host that fails is left alone; nil is never.
    package var circuit: CircuitPolicy?

    /// Rules; by default six hops at a time and nothing else.
    package init(limitPerHost: Int = 6, delay: StartDelay = .none, circuit: CircuitPolicy? = nil) {
        precondition(limitPerHost >= 0, "a limit is not negative")
        self.limitPerHost = limitPerHost
        self.delay = delay
        self.circuit = circuit
    }
}

/// The distance between the hops of one host: `--wait`, a crawl delay.
package struct StartDelay: Sendable, Hashable {
    /// What the distance is measured from.
    package enum Basis: Sendable, Hashable {
        /// From the end of one hop to the start of the next, so that one runs at a time.
        ///
        /// The server then never sees two requests closer together than the delay, however long a connection took.
        case end
        /// From start to start; several hops may run at a time. The way to the server may shorten the distance there.
        case start
    }

    /// The least distance. Not negative; zero is none.
    package var least: Duration
    /// What chance may add to it: between nothing and this.
    package var spread: Duration
    /// What the distance is measured from.
    package var basis: Basis

    /// No distance.
    package static let none = StartDelay(.zero)

    /// A distance of at least `least`, and at most `least + spread`.
    package init(_ least: Duration, spread: Duration = .zero, from basis: Basis = .end) {
        self.least = max(.zero, least)
        self.spread = max(.zero, spread)
        self.basis = basis
    }

    /// Whether hops follow each other without a distance.
    package var isNone: Bool { least == .zero && spread == .zero }

    /// The distance for a random number from 0 to 1.
    func duration(random: Double) -> Duration {
        spread == .zero ? least : least + spread.part(random)
    }
}
