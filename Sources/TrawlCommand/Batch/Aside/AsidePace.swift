import TrawlHTTP

/// How many lines are set aside in search of one that can start.
///
/// Where one in sixty-four or more can, as many as are needed. Where none can, because all of the list is of hosts that
/// take no more now, few in a second: what is set aside is copied, and a long list of a single host need not be copied
/// as a whole.
struct AsidePace {
    /// Lines at once, at most.
    static let most = 16_384
    /// Lines that may be set aside in a second even if none starts, and for each that starts.
    static let inASecond: UInt64 = 8192
    static let forAStart = 64

    private var left = AsidePace.most
    private var filledAt: MonotonicInstant

    init(at now: MonotonicInstant) {
        filledAt = now
    }

    /// Whether another line may be set aside now.
    mutating func hasLeft(at now: MonotonicInstant) -> Bool {
        let passed = now.nanoseconds - min(filledAt.nanoseconds, now.nanoseconds)
        // Whole lines: what is left of the time counts later.
        let lines = min(passed, 1 << 40) * Self.inASecond / 1_000_000_000
        left = min(Self.most, left + Int(lines))
        filledAt =
            left == Self.most
            ? now : filledAt.advanced(by: .nanoseconds(Int64(lines * 1_000_000_000 / Self.inASecond)))
        return left > 0
    }

    /// When some may be set aside again that may not now.
    var next: MonotonicInstant { filledAt.advanced(by: .milliseconds(20)) }

    /// A line was set aside.
    mutating func setAside() { left -= 1 }

    /// A line that was read started.
    mutating func started() { left = min(Self.most, left + Self.forAStart) }
}
