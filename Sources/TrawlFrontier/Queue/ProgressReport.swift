package import TrawlHTTP

/// Progress at one moment, as a person or a program is told of it.
package struct ProgressReport: Sendable, Hashable {
    /// From 0 to 1.
    package var fraction: Double
    /// Bytes and units done.
    package var completed: Int64
    /// Bytes and units there are, as far as is known.
    package var total: Int64
    /// Bytes per second lately.
    package var bytesPerSecond: UInt64
    /// How long the rest will take; nil when nothing speaks for a number.
    package var remaining: Duration?

    /// What a tally and a meter say now.
    ///
    /// The rest takes as long as its bytes at the present rate; where it is not known in bytes, it is judged by the
    /// time that what is done took.
    ///
    /// - Parameters:
    ///   - elapsed: For how long fetches have run: what is done took that.
    package init(of tally: ProgressTally, bytesPerSecond: UInt64, elapsed: Duration) {
        fraction = tally.fraction
        completed = tally.completed
        total = tally.total
        self.bytesPerSecond = bytesPerSecond
        let rest = tally.total - tally.completed
        if tally.livingCount == 0 {
            remaining = .zero
        } else if tally.isInBytes {
            remaining = Self.time(for: rest, bytesPerSecond: bytesPerSecond)
        } else if tally.completed > 0, elapsed > .zero {
            remaining = Self.ratio(of: elapsed, rest, tally.completed)
        } else {
            remaining = nil
        }
    }

    /// How long so many bytes take at a rate, at most a hundred years; nil when none come.
    package static func time(for bytes: Int64, bytesPerSecond: UInt64) -> Duration? {
        bytesPerSecond == 0 ? nil : ratio(of: .seconds(1), bytes, Int64(clamping: bytesPerSecond))
    }

    /// `duration * part / whole`, at most a hundred years: an estimate, for which a Double is good enough.
    private static func ratio(of duration: Duration, _ part: Int64, _ whole: Int64) -> Duration {
        let nanoseconds = Double(duration.clampedNanoseconds) * Double(part) / Double(whole)
        let most: Int64 = 100 * 366 * 86_400 * 1_000_000_000
        return .nanoseconds(nanoseconds < Double(most) ? Int64(max(0, nanoseconds)) : most)
    }
}

/// When progress is told: not more often than people can follow, and always at the end.
package struct ReportPacer: Sendable, Hashable {
    private let interval: Duration
    private var last: MonotonicInstant?

    /// A pacer; by default four reports a second.
    package init(interval: Duration = .milliseconds(250)) {
        self.interval = interval
    }

    /// Whether to report now: the first time, after the interval, and when it is the final report.
    package mutating func isDue(at now: MonotonicInstant, isFinal: Bool = false) -> Bool {
        if !isFinal, let last, last.duration(to: now) < interval { return false }
        last = now
        return true
    }

    /// When the next report is due that is not final; nil is at once.
    package var next: MonotonicInstant? { last?.advanced(by: interval) }
}
