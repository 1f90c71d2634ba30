/// What became of everything since a coordinator's start, counted as it happens.
///
/// Each event costs an addition or two. Times are sorted into histograms only where somebody wants them.
package struct EngineCounts: Sendable, Hashable {
    /// Kinds of errors that are told apart; what comes beyond counts as `other`.
    package static let mostKinds = 64

    /// Fetches answered by a response, by the first digit of its status; at 0 those of none of the five classes.
    package private(set) var responses: [UInt64] = Array(repeating: 0, count: 6)
    /// Fetches answered by an error, by its code.
    package private(set) var failures: [String: UInt64] = [:]
    /// Where responses came from.
    package private(set) var cache = StatusReport.Cache()
    /// Attempts that were followed by another one.
    package private(set) var retries: UInt64 = 0
    /// Hops that ended on a connection of their own.
    package private(set) var newConnections: UInt64 = 0
    /// Hops that ended on a connection used before.
    package private(set) var reusedConnections: UInt64 = 0
    /// Hops that ended without one.
    package private(set) var withoutConnection: UInt64 = 0
    /// How long fetches took from their start to their answer; nil where nobody wants to know.
    package private(set) var durations: TimeHistogram?
    /// How long hops took from their start to the first byte of their response.
    package private(set) var firstBytes: TimeHistogram?
    /// The latest of both, one by one, for those that have histograms of their own; nil where there are none.
    package private(set) var latestTimes: LatestTimes?

    /// Nothing has happened.
    ///
    /// - Parameter measuresTimes: Whether times are sorted into histograms.
    package init(measuresTimes: Bool = false) {
        if measuresTimes { measureTimes() }
    }

    /// Sorts times into histograms from now on.
    package mutating func measureTimes() {
        durations = durations ?? TimeHistogram()
        firstBytes = firstBytes ?? TimeHistogram()
    }

    /// Gives away the latest times, and keeps those from now on. The first call gives none.
    package mutating func takeLatestTimes() -> LatestTimes {
        measureTimes()
        defer { latestTimes = LatestTimes() }
        return latestTimes ?? LatestTimes()
    }

    /// Whether times are wanted.
    package var measuresTimes: Bool { durations != nil }

    /// Where a response came from.
    package enum Origin: Sendable, Hashable {
        /// The server.
        case network
        /// The cache, without asking.
        case cache
        /// The cache, after the server was asked.
        case validated
        /// The cache, although it is stale.
        case stale
        /// Nobody.
        case nobody
    }

    /// A fetch was answered by a response.
    ///
    /// - Parameters:
    ///   - count: So many of them.
    ///   - status: 100 to 999.
    package mutating func responded(_ count: UInt64 = 1, status: Int, from origin: Origin) {
        responses[(100..<600).contains(status) ? status / 100 : 0] &+= count
        switch origin {
        case .network: cache.misses &+= count
        case .cache: cache.hits &+= count
        case .validated: cache.validated &+= count
        case .stale: cache.stale &+= count
        case .nobody: break
        }
    }

    /// A fetch was answered by an error of this code.
    package mutating func failed(_ code: String) {
        let isKnown = failures[code] != nil || failures.count < Self.mostKinds - 1
        failures[isKnown ? code : "other", default: 0] &+= 1
    }

    /// A fetch was answered so long after its start.
    package mutating func took(_ duration: Duration) {
        durations?.add(duration)
        latestTimes?.add(duration: duration)
    }

    /// An attempt is followed by another one.
    package mutating func retried() { retries &+= 1 }

    /// A hop ended.
    ///
    /// - Parameters:
    ///   - wasConnected: Whether it had a connection.
    ///   - reused: Whether that was used before.
    ///   - firstByte: Microseconds until the first byte of its response; zero when none came.
    package mutating func hopEnded(wasConnected: Bool, reused: Bool, firstByte: UInt64) {
        if !wasConnected {
            withoutConnection &+= 1
        } else if reused {
            reusedConnections &+= 1
        } else {
            newConnections &+= 1
        }
        guard firstByte > 0, measuresTimes else { return }
        let time = Duration.microseconds(Int64(clamping: firstByte))
        firstBytes?.add(time)
        latestTimes?.add(firstByte: time)
    }

    /// All fetches that were answered by a response.
    package var done: UInt64 { responses.reduce(0, &+) }
    /// All that were answered by an error.
    package var failed: UInt64 { failures.values.reduce(0, &+) }

    /// Kinds of errors, the most frequent first.
    package var failuresByCount: [StatusReport.Failure] {
        failures.map { StatusReport.Failure(code: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.code) < ($0.count, $1.code) }
    }
}
