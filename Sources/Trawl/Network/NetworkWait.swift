import TrawlHTTP

/// What is kept of a fetch that waits for the network when there is none.
///
/// Bound to the supervisor thread.
final class NetworkWait {
    /// How long after the network came back a failure is taken for one that will pass: names are known a little later
    /// than routes.
    private static let settling = Duration.seconds(10)

    /// How long it may wait in all; nil is as long as the fetch may take.
    let limit: Duration?
    /// How often it has come to wait: after each time its exchange begins anew.
    var count = 0
    /// How long it has waited, the wait that lasts aside.
    var waited = Duration.zero
    /// Since when it waits; nil when it does not.
    var since: MonotonicInstant?
    /// When the last wait ended because the network was there.
    var returnedAt: MonotonicInstant?
    /// Why it waits: the answer, should the wait be too long.
    var reason: FetchError?
    /// Whether its caller was told.
    var isTold = false

    init(limit: Duration?) { self.limit = limit }

    /// How long it may still wait; nil is no limit.
    var left: Duration? { limit.map { max(.zero, $0 - waited) } }

    /// When it will have waited as long as it may; nil when it does not wait, or has no limit.
    var end: MonotonicInstant? {
        guard let since, let left else { return nil }
        return since.advanced(by: left)
    }

    /// The network is there.
    func ended(at now: MonotonicInstant) {
        if let since { waited += since.duration(to: now) }
        since = nil
        returnedAt = now
    }

    /// Whether the network came back a moment ago.
    func isSettling(at now: MonotonicInstant) -> Bool {
        returnedAt.map { $0.duration(to: now) < Self.settling } ?? false
    }

    /// Time until now was not its own: no limit runs while a fetch is suspended. It may have come to wait in the middle
    /// of that.
    func giveBack(_ pause: Duration, at now: MonotonicInstant) {
        guard let since else { return }
        self.since = since.advanced(by: min(pause, since.duration(to: now)))
    }
}

/// The fetches that wait for the network.
struct NetworkWaits {
    private var ends: [FetchKey: MonotonicInstant?] = [:]
    private var limits = DeadlineQueue()

    /// Whether none waits.
    var isEmpty: Bool { ends.isEmpty }

    /// How many wait.
    var count: Int { ends.count }

    /// When the first of them has waited too long.
    var earliest: MonotonicInstant? { limits.earliest }

    /// A fetch begins to wait; nil is without a limit.
    mutating func insert(_ fetch: FetchKey, until end: MonotonicInstant?) {
        ends[fetch] = .some(end)
        if let end { limits.insert(fetch, deadline: end) }
    }

    /// A fetch that has ended waits no longer.
    mutating func remove(_ fetch: FetchKey) { ends[fetch] = nil }

    /// Takes a fetch that has waited too long.
    mutating func nextExpired(at now: MonotonicInstant) -> FetchKey? {
        while let key = limits.next(dueAt: now) {
            // It may have waited before, and wait again.
            guard let end = ends[key] ?? nil, end <= now else { continue }
            ends[key] = nil
            return key
        }
        return nil
    }

    /// Drops limits of fetches that wait no longer, or have another, when they are the most.
    mutating func compact() {
        limits.compact(living: ends.count) { entry in (ends[entry.fetch] ?? nil) == entry.deadline }
    }

    /// Takes all of them, in the order of their places among all fetches.
    mutating func removeAll() -> [FetchKey] {
        let keys = ends.keys.sorted { $0.rawValue & 0xFFFF_FFFF < $1.rawValue & 0xFFFF_FFFF }
        self = NetworkWaits()
        return keys
    }
}
