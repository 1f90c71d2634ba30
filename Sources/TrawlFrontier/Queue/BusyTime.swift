package import TrawlHTTP

/// For how long something was under way, with the time left out in which nothing was.
package struct BusyTime: Sendable, Hashable {
    /// What is over.
    private var earlier = Duration.zero
    /// Since when something has been under way.
    private var since: MonotonicInstant?

    /// Nothing was under way so far.
    package init() {}

    /// Whether something is under way.
    package var isBusy: Bool { since != nil }

    /// Something is under way from now on, or nothing any more.
    package mutating func set(_ isBusy: Bool, at now: MonotonicInstant) {
        guard isBusy != self.isBusy else { return }
        earlier = total(at: now)
        since = isBusy ? now : nil
    }

    /// All of it until now. A clock that goes back takes nothing away.
    package func total(at now: MonotonicInstant) -> Duration {
        guard let since else { return earlier }
        return earlier + max(.zero, since.duration(to: now))
    }

    /// What there was until now counts no more; what is under way goes on.
    package mutating func reset(at now: MonotonicInstant) {
        earlier = .zero
        if isBusy { since = now }
    }
}
