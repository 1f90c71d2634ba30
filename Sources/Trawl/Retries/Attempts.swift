import TrawlFrontier
import TrawlHTTP

/// What is kept of a fetch that may be tried again.
///
/// Bound to the supervisor thread.
final class Attempts {
    let policy: RetryPolicy
    /// Attempts that failed and were followed by another.
    var failed = 0
    /// When the first attempt got a worker, and later by the time that was not the fetch's own.
    var startedAt: MonotonicInstant?
    /// The wait after the response whose head has come, when it is not the answer.
    var wait: Duration?
    /// What the last attempt came to, as long as the next one has to begin within a time: the answer, if it does not.
    var failure: FetchError?

    init(_ policy: RetryPolicy) { self.policy = policy }

    /// What to do after the attempt in flight.
    func verdict(
        after ending: RetryPolicy.Ending, isIdempotent: Bool, at now: MonotonicInstant, holdOff: Duration,
        random: Double
    ) -> RetryPolicy.Verdict {
        policy.verdict(
            after: ending, attempts: failed + 1, elapsed: startedAt.map { $0.duration(to: now) } ?? .zero,
            isIdempotent: isIdempotent, holdOff: holdOff, random: random)
    }

    /// After when none begins; nil where there is no bound.
    var end: MonotonicInstant? {
        guard let longestTime = policy.longestTime else { return nil }
        return startedAt?.advanced(by: longestTime)
    }
}
