import Glibc

/// Time of a processor, which nobody spends who waits for one.
package enum ProcessorTime {
    /// How much of it the calling thread spends on `body`.
    package static func spent(on body: () throws -> Void) rethrows -> Duration {
        let before = now()
        try body()
        return now() - before
    }

    private static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
