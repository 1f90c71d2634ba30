package import TrawlHTTP

/// How many bytes a second moved lately: the measured average of the last five seconds.
///
/// Bytes are counted in steps of a quarter of a second, so the window is between 4.75 and 5 s long. While less time
/// has passed since the first byte, the average is of that.
package struct RateMeter: Sendable {
    private static let step: UInt64 = 250_000_000
    private static let steps = 20

    /// Empty before the first byte.
    private var counts: [UInt64] = []
    private var sum: UInt64 = 0
    /// The step, since the clock's zero, that the latest count is of.
    private var latest: UInt64 = 0
    private var firstByte: MonotonicInstant?

    /// A meter that has seen nothing.
    package init() {}

    /// Bytes moved since the last report. What is taken back was moved all the same: negative numbers count as nothing.
    package mutating func moved(_ bytes: Int64, at now: MonotonicInstant) {
        guard bytes > 0 else { return }
        advance(to: now)
        if firstByte == nil { firstByte = now }
        if counts.isEmpty { counts = Array(repeating: 0, count: Self.steps) }
        let place = Int(latest % UInt64(Self.steps))
        let room = UInt64.max / 2 - sum
        let counted = min(UInt64(bytes), room)
        counts[place] += counted
        sum += counted
    }

    /// The average in bytes per second, rounded down.
    package mutating func bytesPerSecond(at now: MonotonicInstant) -> UInt64 {
        advance(to: now)
        guard let firstByte, sum > 0 else { return 0 }
        // The window begins with the oldest step, or with the first byte if that is later.
        let oldest = latest >= UInt64(Self.steps - 1) ? (latest - UInt64(Self.steps - 1)) * Self.step : 0
        let begin = max(oldest, firstByte.nanoseconds)
        // Less than a step says too little: what came at once would be any rate.
        let length = max(Self.step, now.nanoseconds > begin ? now.nanoseconds - begin : 0)
        let (high, low) = sum.multipliedFullWidth(by: 1_000_000_000)
        return length.dividingFullWidth((min(high, length - 1), low)).quotient
    }

    /// Steps that are out of the window count no more. A clock that does not go on changes nothing.
    private mutating func advance(to now: MonotonicInstant) {
        let current = now.nanoseconds / Self.step
        guard current > latest else { return }
        if sum > 0 {
            for step in 1...min(current - latest, UInt64(Self.steps)) {
                let place = Int((latest &+ step) % UInt64(Self.steps))
                sum -= counts[place]
                counts[place] = 0
            }
            // After a silence it begins anew.
            if sum == 0 { firstByte = nil }
        }
        latest = current
    }
}
