/// The numbers of a worker slot's life.
package struct RestartPolicy: Sendable, Hashable {
    /// Delay before the second restart without a completed lease between; doubles from there.
    package var firstDelay: Duration = .milliseconds(100)
    /// Where the doubling ends.
    package var longestDelay: Duration = .seconds(10)
    /// The part of a delay, 0 to 1, that jitter may take off, so that slots do not restart in step.
    package var jitterShare: Double = 0.25
    /// Failed starts in a row after which a slot that was never ready is retired.
    package var startAttempts: Int = 5
    /// Failed starts in a row after which a slot that was ready once is retired: more than a minute's. Processes that
    /// cannot be made for want of memory or numbers do not count, which passes.
    package var laterStartAttempts: Int = 14
    /// How long a worker may take to say that it is ready.
    package var startDeadline: Duration = .seconds(10)
    /// How long a heartbeat may stand still.
    package var heartbeatDeadline: Duration = .seconds(30)
    /// The most that one tick may add to a silence: a supervisor that was stopped must not blame its workers.
    package var longestTick: Duration = .seconds(1)

    /// The defaults.
    package init() {}

    /// The wait before the next start.
    ///
    /// - Parameters:
    ///   - failures: Earlier exits and failed starts since the last completed lease.
    ///   - jitter: A random number from 0 to 1.
    package func delay(afterFailures failures: Int, jitter: Double) -> Duration {
        var delay = firstDelay
        for _ in 0..<min(max(failures, 0), 62) where delay < longestDelay {
            delay = delay + delay
        }
        let share = jitter > 0 ? min(jitter, 1) : 0
        return min(delay, longestDelay) * (1 - jitterShare * share)
    }
}
