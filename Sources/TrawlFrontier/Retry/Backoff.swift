internal import TrawlHTTP

/// Waits that double from one failure to the next, between bounds, made uneven by chance.
package struct Backoff: Sendable, Hashable {
    /// How much of a wait is left to chance, so that many that failed together do not come back together.
    package enum Jitter: Sendable, Hashable {
        /// Nothing: the wait is what the doubling says.
        case none
        /// One half is fixed, the other is drawn: never less than half of the wait.
        case equal
        /// All of it is drawn, from nothing to the whole wait: spreads best, and may not wait at all.
        case full
    }

    /// The wait after the first failure. Not negative.
    package var first: Duration
    /// Where the doubling ends. At least `first`, or that is the wait throughout.
    package var longest: Duration
    /// The part of chance.
    package var jitter: Jitter

    /// Waits between these bounds.
    package init(first: Duration, longest: Duration, jitter: Jitter = .equal) {
        self.first = first
        self.longest = longest
        self.jitter = jitter
    }

    /// The wait after a number of failures in a row.
    ///
    /// - Parameters:
    ///   - failures: How many there were, the latest included; less than one counts as one.
    ///   - random: A random number from 0 to 1; what is outside counts as the nearer of these, no number as 1.
    /// - Returns: Never negative, and never more than `longest`.
    package func delay(afterFailures failures: Int, random: Double) -> Duration {
        let most = max(0, longest.clampedNanoseconds)
        var nanoseconds = min(max(0, first.clampedNanoseconds), most)
        for _ in 1..<min(max(failures, 1), 64) where nanoseconds < most {
            let (double, overflow) = nanoseconds.multipliedReportingOverflow(by: 2)
            nanoseconds = overflow ? most : min(double, most)
        }
        let whole = Duration.nanoseconds(nanoseconds)
        return switch jitter {
        case .none: whole
        case .equal: whole - (whole / 2).part(1 - random)
        case .full: whole.part(random)
        }
    }
}

extension Duration {
    /// A part of a wait that is not negative, in whole nanoseconds, at most 292 years.
    ///
    /// - Parameter share: From 0 to 1; what is outside counts as the nearer of these, no number as 1.
    func part(_ share: Double) -> Duration {
        let nanoseconds = max(0, clampedNanoseconds)
        // What is near the end of the range is not left to rounding.
        guard share < 1 else { return .nanoseconds(nanoseconds) }
        return .nanoseconds(min(nanoseconds, Int64(Double(min(nanoseconds, 1 << 62)) * max(0, share))))
    }
}
