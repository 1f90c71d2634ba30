/// A moment on the machine's monotonic clock, for deadlines and intervals.
///
/// It never jumps with the wall clock. Values of different boots do not compare.
package struct MonotonicInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since an arbitrary moment of this boot.
    package var nanoseconds: UInt64

    /// Later than any.
    package static let never = MonotonicInstant(nanoseconds: .max)

    /// The instant that many nanoseconds after the clock's zero.
    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// This instant moved by `duration`, kept within the clock's range.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let delta = duration.clampedNanoseconds
        if delta >= 0 {
            let (sum, overflow) = nanoseconds.addingReportingOverflow(UInt64(delta))
            return MonotonicInstant(nanoseconds: overflow ? .max : sum)
        }
        let back = delta.magnitude
        return MonotonicInstant(nanoseconds: nanoseconds > back ? nanoseconds - back : 0)
    }

    /// The time from this instant to `other`; negative when `other` is earlier.
    package func duration(to other: MonotonicInstant) -> Duration {
        if other.nanoseconds >= nanoseconds {
            return .nanoseconds(Int64(clamping: other.nanoseconds - nanoseconds))
        }
        return .nanoseconds(-Int64(clamping: nanoseconds - other.nanoseconds))
    }

    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// Nanoseconds, cut to what 64 bits hold (292 years).
    package var clampedNanoseconds: Int64 {
        // Compared first: `components` traps on a duration of more seconds than 64 bits hold.
        if self >= .nanoseconds(Int64.max) { return .max }
        if self <= .nanoseconds(Int64.min) { return .min }
        let (seconds, attoseconds) = components
        // Both have the same sign and the sum is in range, but seconds times 10^9 alone may be just outside of it.
        return (seconds &* 1_000_000_000) &+ attoseconds / 1_000_000_000
    }

    /// Whole seconds, rounded towards zero, cut to what 64 bits hold.
    package var wholeSeconds: Int64 {
        // Compared first, for the same reason.
        if self >= .seconds(Int64.max) { return .max }
        if self <= .seconds(Int64.min) { return .min }
        return components.seconds
    }

    /// Whole milliseconds, rounded up, between 0 and what 32 bits hold; for system calls and wire fields.
    package var clampedMilliseconds: UInt32 {
        let nanoseconds = clampedNanoseconds
        if nanoseconds <= 0 { return 0 }
        return UInt32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
    }

    /// Whole seconds, rounded up, from zero to what 32 bits hold.
    package var clampedSeconds: UInt32 {
        let nanoseconds = clampedNanoseconds
        if nanoseconds <= 0 { return 0 }
        return UInt32(clamping: nanoseconds / 1_000_000_000 + (nanoseconds % 1_000_000_000 == 0 ? 0 : 1))
    }
}
