import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision

extension LimitNumbers {
    /// The number of the limit of all fetches together.
    static let all = 0
    /// A lease that is under that one alone.
    static let ofAll = LimitNumbers(all)
}

/// Limits of bandwidth, and what is known of its use.
extension Supervisor {
    /// The most that a worker can have reserved for one transfer; a worker's word is no proof.
    private static let mostReserved: UInt64 = 512 << 10

    /// The limits that the next lease of a fetch is under.
    ///
    /// Origins beyond those that there are numbers for share the limits of others.
    func limits(for fetch: RunningFetch) -> LimitNumbers {
        let options = fetch.plan.options
        if options.isExemptFromBandwidthLimits { return .unlimited }
        if let name = options.bandwidthShare, shares.isExempt(name) { return .unlimited }
        let share = options.bandwidthShare.flatMap { shares.number(of: $0) }
        if configuration.bandwidthPerHost.isUnlimited {
            return share == nil ? .ofAll : LimitNumbers(LimitNumbers.all, share)
        }
        return LimitNumbers(LimitNumbers.all, 1 + Int(fetch.engine.origin) % (BandwidthShares.first - 1), share)
    }

    /// Sets the limits that a configuration asks for.
    func setBandwidthLimits() {
        guard !configuration.bandwidthPerHost.isUnlimited else { return }
        for number in 1..<BandwidthShares.first { segment.limit(number).set(configuration.bandwidthPerHost) }
    }

    /// A worker died with a hop: frees its line, and gives back bandwidth that was reserved for a response of which
    /// nothing came.
    func giveBackReservation(of lease: LeaseID, _ fetch: RunningFetch) {
        let line = segment.progress(worker: fetch.engine.worker, transfer: fetch.engine.progressIndex)
        guard line.snapshot()?.lease == lease.rawValue else { return }
        let bytes = Int(min(line.reservation, Self.mostReserved))
        line.end()
        guard bytes > 0 else { return }
        for number in limits(for: fetch).numbers { segment.limit(number).bucket(.down).refund(bytes) }
    }

    /// Reads the workers' counters.
    func meterBandwidth() {
        meter.sample(
            slots.indices.map { slot in
                let line = segment.worker(slot)
                return BandwidthMeter.Counters(received: line.bytesIn, sent: line.bytesOut)
            }, at: now)
    }
}
