import TrawlPlatform
import TrawlProtocol

extension Coordinator {
    /// Limits what all fetches take together, from now on: within a quarter of a second in all workers, also for those
    /// that run.
    public func setBandwidthLimit(_ limit: BandwidthLimit) {
        bandwidth.withLock { bandwidth in
            bandwidth = limit
            segment.limit(LimitNumbers.all).set(limit)
        }
    }

    /// The limit of all fetches together.
    public var bandwidthLimit: BandwidthLimit { bandwidth.withLock { $0 } }

    /// Bytes a second, received and sent, over the last five seconds.
    public var averageBytesPerSecond: Double { meter.average }

    /// Whether fetches wait for bandwidth at present.
    public var isThrottled: Bool {
        let limit = segment.limit(LimitNumbers.all)
        let now = MonotonicClock.now()
        return limit.bucket(.down).debt(at: now) > .zero || limit.bucket(.up).debt(at: now) > .zero
    }
}

extension SharedLimit {
    /// The longest ``BandwidthLimit/burst``.
    private static let longestBurst = Duration.seconds(1)

    /// Sets what a limit says.
    func set(_ limit: BandwidthLimit) {
        set(
            down: limit.download, up: limit.upload, burst: max(.zero, min(limit.burst, Self.longestBurst)),
            at: MonotonicClock.now())
    }
}
