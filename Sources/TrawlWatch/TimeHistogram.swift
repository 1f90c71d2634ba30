/// How many of many times were how long: counts by fixed bounds, and their sum.
package struct TimeHistogram: Sendable, Hashable {
    /// The upper bounds in microseconds, each included; what is longer is counted apart.
    package static let bounds: [UInt64] = [
        1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000,
        10_000_000, 30_000_000, 60_000_000, 300_000_000,
    ]

    /// How many there were up to each bound and above the one before; the last count is of what is above all.
    package private(set) var counts: [UInt64] = Array(repeating: 0, count: bounds.count + 1)
    /// All of them together, in microseconds.
    package private(set) var sum: UInt64 = 0

    /// None.
    package init() {}

    /// How many there were.
    package var count: UInt64 { counts.reduce(0, &+) }

    /// One more. A negative one counts as nothing.
    package mutating func add(_ duration: Duration) {
        let microseconds = Self.microseconds(duration)
        var place = 0
        while place < Self.bounds.count, microseconds > Self.bounds[place] { place += 1 }
        counts[place] &+= 1
        sum &+= microseconds
    }

    /// Whole microseconds, none for a negative time, and no more than a century.
    static func microseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = max(.zero, min(duration, .seconds(1 << 32))).components
        return UInt64(seconds) * 1_000_000 + UInt64(attoseconds / 1_000_000_000_000)
    }
}
