import TrawlHTTP

/// How long a shutdown waits for validations that nobody waits for.
///
/// Each that ends gives the next one its time, but the end never comes later than the limit.
struct ValidationGrace {
    /// When it waits no longer.
    private(set) var end = MonotonicInstant(nanoseconds: 0)
    /// The latest that may become, when one after the other ends.
    private var limit = MonotonicInstant(nanoseconds: 0)
    /// The earliest, while there is no worker yet, whose start costs no validation its time; nil when there is one.
    private var withoutWorker: MonotonicInstant?

    /// The shutdown begins.
    ///
    /// - Parameters:
    ///   - grace: What fetches in flight are given.
    ///   - each: What a validation is given.
    ///   - hasWorker: Whether there is a worker that is ready.
    mutating func begin(_ grace: Duration, each: Duration, hasWorker: Bool, at now: MonotonicInstant) {
        end = now.advanced(by: max(grace, each))
        limit = now.advanced(by: max(grace, each * 3))
        withoutWorker = hasWorker ? nil : end
        if !hasWorker { end = limit }
    }

    /// A worker is ready.
    mutating func workerReady(_ each: Duration, at now: MonotonicInstant) {
        guard let earliest = withoutWorker else { return }
        withoutWorker = nil
        end = min(limit, max(earliest, now.advanced(by: each)))
    }

    /// The shutdown was asked for again: the shorter grace counts.
    mutating func shorten(to grace: Duration, at now: MonotonicInstant) {
        limit = min(limit, now.advanced(by: grace))
        end = min(end, limit)
    }

    /// A validation is over: the bound is for servers that do not answer.
    mutating func extend(by each: Duration, at now: MonotonicInstant) {
        end = min(limit, max(end, now.advanced(by: each)))
    }
}
