import TrawlPlatform
import TrawlProtocol

extension Coordinator {
    /// Limits what all fetches take together, from now on: within a quarter of a second in all workers, also for those
    /// that run.
    ///
    /// On a metered network ``Configuration/meteredBandwidth`` holds instead, where there is one.
    public func setBandwidthLimit(_ limit: BandwidthLimit) {
        bandwidth.limit = limit
    }

    /// The limit of all fetches together, as it was set.
    public var bandwidthLimit: BandwidthLimit { bandwidth.limit }

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
