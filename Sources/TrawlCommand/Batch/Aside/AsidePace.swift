import TrawlHTTP

/// How many lines are set aside in search of one that can start.
///
/// Where one in sixty-four or more can, as many as are needed. Where none can, because all of the list is of hosts that
/// take no more now, few in a second: what is set aside is copied, and a long list of a single host need not be copied
/// as a whole. Nor does the search keep answers waiting: it has a quarter of the time at most, however long a line takes.
struct AsidePace {
    /// Lines at once, at most.
    static let most = 16_384
    /// Lines that may be set aside in a second even if none starts, and for each that starts.
    static let inASecond: UInt64 = 8192
    static let forAStart = 64
    /// Lines that may be set aside between two looks at answers even if none starts.
    static let inASpell = 512
    /// How many times as long as a spell without a start it is before the next one.
    static let rest = 3
    /// And how long a spell counts at most: the process may have been stopped in it.
    static let longestSpell = Duration.seconds(1)

    private var left = AsidePace.most
    private var filledAt: MonotonicInstant
    private var restsUntil: MonotonicInstant
    /// Lines of this spell that were set aside, and that started.
    private var (asideInSpell, startedInSpell) = (0, 0)

    init(at now: MonotonicInstant) {
        filledAt = now
        restsUntil = now
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
        return left > 0 && unpaid < Self.inASpell && now >= restsUntil
    }

    /// When some may be set aside again that may not now.
    var next: MonotonicInstant { left > 0 ? restsUntil : max(restsUntil, filledAt.advanced(by: .milliseconds(20))) }

    /// A line was set aside.
    mutating func setAside() {
        left -= 1
        asideInSpell += 1
    }

    /// A line that was read started.
    mutating func started() {
        left = min(Self.most, left + Self.forAStart)
        startedInSpell += 1
    }

    /// A spell of reading is over, and answers are looked at.
    mutating func endSpell(from start: MonotonicInstant, to end: MonotonicInstant) {
        let lines = asideInSpell + startedInSpell
        if unpaid > 0 {
            let time = min(max(.zero, start.duration(to: end)), Self.longestSpell)
            restsUntil = end.advanced(by: time * unpaid * Self.rest / lines)
        }
        (asideInSpell, startedInSpell) = (0, 0)
    }

    /// Lines of this spell that were set aside although too few started for them.
    private var unpaid: Int { max(0, asideInSpell - startedInSpell * Self.forAStart) }
}
