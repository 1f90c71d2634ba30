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

    /// Limits what the fetches of a group take together (``RequestOptions/bandwidthShare``), beside the limit of all:
    /// from now on, also for those that wait for their turn with a host. There may be 64 groups with a limit at a time.
    ///
    /// - Parameter name: The group; nothing else is known of it.
    /// - Throws: ``FetchError/Code/badRequest`` when there are too many, or the burst is negative.
    public func setBandwidthLimit(_ limit: BandwidthLimit, ofShare name: String) throws(FetchError) {
        if let problem = limit.problem { throw FetchError(.badRequest, problem) }
        guard shares.set(limit, of: name, in: segment) else {
            throw FetchError(.badRequest, "more than \(BandwidthShares.most) shares of bandwidth")
        }
    }

    /// The limit of a group; ``BandwidthLimit/none`` where none was set.
    public func bandwidthLimit(ofShare name: String) -> BandwidthLimit { shares.limit(of: name) }

    /// Takes the fetches of a group out of all limits of bandwidth, or puts them back: as
    /// ``RequestOptions/isExemptFromBandwidthLimits`` does for one. From now on, also for those that wait for their
    /// turn with a host; what runs goes on as it began.
    ///
    /// - Parameter name: The group, ``RequestOptions/bandwidthShare``.
    public func setExemptFromBandwidthLimits(_ isExempt: Bool, share name: String) {
        shares.setExempt(isExempt, name)
    }

    /// Whether no limit of bandwidth holds for a group.
    public func isExemptFromBandwidthLimits(share name: String) -> Bool { shares.isExempt(name) }

    /// The limit of all fetches together, as it was set.
    public var bandwidthLimit: BandwidthLimit { bandwidth.limit }

    /// Bytes a second, received and sent, over the last five seconds.
    public var averageBytesPerSecond: Double { meter.average }

    /// Whether fetches wait for bandwidth at present, as far as the limit of all together is concerned: those of hosts
    /// and groups are not looked at.
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
