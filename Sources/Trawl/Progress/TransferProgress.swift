import TrawlFrontier
import TrawlHTTP

/// How far a fetch, or all fetches of a queue, have come.
public struct TransferProgress: Sendable, Hashable {
    /// Responses: bytes of bodies as they come from the wire, before decoding.
    public var download: Direction
    /// Requests: bytes of bodies. Goes back when a body has to be sent again, after a challenge for instance.
    public var upload: Direction
    /// Bytes of the responses' bodies after decoding.
    public var decoded: Int64
    /// Whether all is over, well or not: nothing follows but what is added to a queue later.
    public var isComplete: Bool

    /// One direction.
    public struct Direction: Sendable, Hashable {
        /// What is done: bytes, and for a queue that counts fetches, fetches.
        public var completed: Int64
        /// What there is to do, as ``completed`` counts it; -1 when unknown.
        public var total: Int64
        /// From 0 to 1; nil when unknown.
        public var fraction: Double?
        /// Bytes a second, the average of the last five seconds.
        public var bytesPerSecond: UInt64
        /// How long the rest takes at that rate, at most a hundred years; nil when nothing speaks for a number.
        public var remaining: Duration?

        /// Of which nothing is known.
        public static let unknown = Direction(completed: 0, total: -1, fraction: nil, bytesPerSecond: 0, remaining: nil)
        /// In which there is nothing to do.
        public static let nothing = Direction(
            completed: 0, total: 0, fraction: 1, bytesPerSecond: 0, remaining: .zero)
    }
}

extension TransferProgress.Direction {
    /// What a tally and a meter say.
    ///
    /// - Parameter elapsed: For how long fetches have run.
    init(_ tally: ProgressTally, _ meter: inout RateMeter, _ elapsed: Duration, at now: MonotonicInstant) {
        let report = ProgressReport(of: tally, bytesPerSecond: meter.bytesPerSecond(at: now), elapsed: elapsed)
        self.init(
            completed: report.completed, total: report.total, fraction: report.fraction,
            bytesPerSecond: report.bytesPerSecond, remaining: report.remaining)
    }

    /// The bytes of one body.
    ///
    /// - Parameter size: How many there are; nil when unknown.
    init(moved: Int64, of size: Int64?, bytesPerSecond: UInt64, isComplete: Bool) {
        completed = moved
        total = size ?? -1
        self.bytesPerSecond = bytesPerSecond
        guard let size else {
            fraction = nil
            remaining = isComplete ? .zero : nil
            return
        }
        let left = max(0, size - moved)
        fraction = left == 0 ? 1 : Double(moved) / Double(size)
        if left == 0 || isComplete {
            remaining = .zero
        } else {
            remaining = ProgressReport.time(for: left, bytesPerSecond: bytesPerSecond)
        }
    }
}
