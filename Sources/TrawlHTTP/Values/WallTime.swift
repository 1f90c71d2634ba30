/// A moment by the wall clock: what HTTP dates are about. It may jump; deadlines use `MonotonicInstant`.
package struct WallTime: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970 began, leap seconds not counted.
    package var milliseconds: Int64

    /// The moment that many milliseconds after 1970 began.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The moment that many seconds after 1970 began, kept within the range.
    package init(seconds: Int64) {
        milliseconds = seconds.multipliedClamping(by: 1000)
    }

    /// Whole seconds since 1970 began, rounded down.
    package var seconds: Int64 {
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// Milliseconds from `other` to this moment, kept within the range; negative when `other` is later.
    package func milliseconds(since other: WallTime) -> Int64 {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(other.milliseconds)
        return overflow ? (milliseconds < other.milliseconds ? .min : .max) : difference
    }

    /// This moment moved by so many milliseconds, kept within the range.
    package func advanced(byMilliseconds delta: Int64) -> WallTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(delta)
        return WallTime(milliseconds: overflow ? (delta < 0 ? .min : .max) : sum)
    }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Int64 {
    /// The product, cut to what 64 bits hold.
    package func multipliedClamping(by factor: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? ((self < 0) == (factor < 0) ? .max : .min) : product
    }

    /// The sum, cut to what 64 bits hold.
    package func addingClamping(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

extension UInt64 {
    /// The sum, cut to what 64 bits hold.
    package func addingClamping(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
