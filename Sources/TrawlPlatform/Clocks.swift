import Glibc
package import TrawlHTTP

/// The clock of deadlines and delays, the same in all processes of one boot.
package enum MonotonicClock {
    /// Now, by CLOCK_MONOTONIC.
    package static func now() -> MonotonicInstant { read(CLOCK_MONOTONIC) }

    /// The same as of the kernel's last tick, at most 10 ms ago: a fifth of the time, for what is asked of every
    /// request.
    package static func coarse() -> MonotonicInstant { read(CLOCK_MONOTONIC_COARSE) }

    /// Now by CLOCK_BOOTTIME, which goes on while the machine is suspended: for what others count meanwhile.
    package static func sinceBoot() -> MonotonicInstant { read(CLOCK_BOOTTIME) }

    @inline(__always)
    private static func read(_ clock: clockid_t) -> MonotonicInstant {
        var time = timespec()
        clock_gettime(clock, &time)
        return MonotonicInstant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// Rests the calling thread, which must be one that may block; a signal may end it early.
    package static func sleep(for duration: Duration) {
        let nanoseconds = max(0, duration.clampedNanoseconds)
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        nanosleep(&time, nil)
    }
}

/// The clock of dates; it may jump in either direction.
package enum WallClock {
    /// Seconds since 1970 without leap seconds, and the nanoseconds within the second.
    package static func now() -> (seconds: Int64, nanoseconds: Int32) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), Int32(time.tv_nsec))
    }

    /// Now, in milliseconds.
    package static func time() -> WallTime {
        let (seconds, nanoseconds) = now()
        return WallTime(milliseconds: seconds &* 1000 &+ Int64(nanoseconds) / 1_000_000)
    }
}
