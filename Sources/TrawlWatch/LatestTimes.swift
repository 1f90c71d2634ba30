/// Times one by one, between two looks at them.
package struct LatestTimes: Sendable, Hashable {
    /// The most of each kind that are kept; what comes beyond is in the histograms alone.
    package static let most = 16_384

    /// How long fetches took from their start to their answer, in microseconds.
    package private(set) var durations: [UInt64] = []
    /// How long hops took to the first byte of their response, in microseconds.
    package private(set) var firstBytes: [UInt64] = []

    /// None.
    package init() {}

    mutating func add(duration: Duration) {
        add(TimeHistogram.microseconds(duration), to: \.durations)
    }

    mutating func add(firstByte: Duration) {
        add(TimeHistogram.microseconds(firstByte), to: \.firstBytes)
    }

    private mutating func add(_ time: UInt64, to kind: WritableKeyPath<LatestTimes, [UInt64]>) {
        if self[keyPath: kind].count < Self.most { self[keyPath: kind].append(time) }
    }
}
