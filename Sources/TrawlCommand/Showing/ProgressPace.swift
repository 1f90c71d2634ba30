import TrawlHTTP

/// What progress lines need to know of those before them: how fast it goes, and what was shown.
struct ProgressPace: Sendable {
    private var speed: Speed
    /// The most bytes of a list that were shown: a body that is over, or begun anew, takes nothing back.
    private var mostBytes: UInt64 = 0
    private var moved = MovedBytes()

    init(at now: MonotonicInstant) {
        speed = Speed(at: now)
    }

    /// The line of one URL; see ``ProgressLine/text(_:rate:width:hasBar:)``.
    mutating func text(
        _ single: ProgressLine.Single, width: Int, hasBar: Bool, at now: MonotonicInstant
    ) -> String {
        speed.update(bytes: single.done, fetches: 0, at: now)
        return ProgressLine.text(single, rate: speed.bytes, width: width, hasBar: hasBar)
    }

    /// The line of a list; see ``ProgressLine/text(_:rate:fetchRate:width:hasBar:)``.
    ///
    /// - Parameter inFlight: Bytes of bodies that are not over, beside those of `many`.
    mutating func text(
        _ many: ProgressLine.Many, inFlight: UInt64, width: Int, hasBar: Bool, at now: MonotonicInstant
    ) -> String {
        let sum = many.bytes &+ inFlight
        mostBytes = max(mostBytes, sum)
        moved.update(sum, at: now)
        var many = many
        many.bytes = mostBytes
        // What earlier runs did says nothing about how long the rest takes.
        speed.update(bytes: moved.count, fetches: many.done - many.skipped, at: now)
        return ProgressLine.text(
            many, rate: speed.bytes, fetchRate: speed.fetches, width: width, hasBar: hasBar)
    }
}

/// How many bytes came in all, by sums that may go back: for a moment when a body is over and not counted yet, for good
/// when one is lost. What is lost came all the same, and so does what comes in its place.
private struct MovedBytes: Sendable {
    private(set) var count: UInt64 = 0
    /// The sum up to which all is counted.
    private var counted: UInt64 = 0
    /// Since when sums are less than that, and the least of them.
    private var fallen: (since: MonotonicInstant, to: UInt64)?

    /// How long a body that is over is not counted at most.
    private static let patience = Duration.seconds(1)

    mutating func update(_ sum: UInt64, at now: MonotonicInstant) {
        var from = counted
        if sum < counted {
            let (since, least) = fallen ?? (now, sum)
            from = min(least, sum)
            fallen = (since, from)
            guard since.duration(to: now) >= Self.patience else { return }
        }
        fallen = nil
        count &+= sum - from
        counted = sum
    }
}

/// Rates over about the last five seconds.
struct Speed: Sendable {
    private(set) var bytes = 0.0
    private(set) var fetches = 0.0
    private var last: (bytes: UInt64, fetches: Int, at: MonotonicInstant)

    init(at now: MonotonicInstant) {
        last = (0, 0, now)
    }

    /// Takes in the totals of now. Totals that went back start anew.
    mutating func update(bytes total: UInt64, fetches done: Int, at now: MonotonicInstant) {
        let seconds = last.at.duration(to: now) / .seconds(1)
        guard seconds > 0.05 else { return }
        let isFirst = last.bytes == 0 && last.fetches == 0
        let weight = isFirst ? 1 : min(1, seconds / 5)
        let newBytes = total >= last.bytes ? Double(total - last.bytes) : Double(total)
        let newFetches = done >= last.fetches ? Double(done - last.fetches) : Double(done)
        bytes += weight * (newBytes / seconds - bytes)
        fetches += weight * (newFetches / seconds - fetches)
        last = (total, done, now)
    }
}
