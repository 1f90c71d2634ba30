import TrawlFrontier
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
        if isExempt(fetch) { return .unlimited }
        let share = shareNumber(of: fetch)
        if configuration.bandwidthPerHost.isUnlimited {
            return share == nil ? .ofAll : LimitNumbers(LimitNumbers.all, share)
        }
        return LimitNumbers(LimitNumbers.all, 1 + Int(fetch.engine.origin) % (BandwidthShares.first - 1), share)
    }

    /// Whether two fetches of one host are under the same limits, whatever their groups are called.
    func haveSameLimits(_ fetch: RunningFetch, _ other: RunningFetch) -> Bool {
        let isExempt = isExempt(fetch)
        return isExempt == self.isExempt(other) && (isExempt || shareNumber(of: fetch) == shareNumber(of: other))
    }

    private func isExempt(_ fetch: RunningFetch) -> Bool {
        if fetch.plan.options.isExemptFromBandwidthLimits { return true }
        return fetch.plan.options.bandwidthShare.map { shares.isExempt($0) } ?? false
    }

    /// The number of the limit that its group has.
    private func shareNumber(of fetch: RunningFetch) -> Int? {
        fetch.plan.options.bandwidthShare.flatMap { shares.number(of: $0) }
    }

    /// Sets the limits that a configuration asks for.
    func setBandwidthLimits() {
        guard !configuration.bandwidthPerHost.isUnlimited else { return }
        for number in 1..<BandwidthShares.first { segment.limit(number).set(configuration.bandwidthPerHost) }
    }

    // MARK: Leases under limits

    /// A hop gets a lease under these limits.
    mutating func countLease(of fetch: RunningFetch, under numbers: LimitNumbers) {
        if areOff(numbers) { return }
        fetch.engine.leasedLimits = numbers
        limitedHops.granted(under: numbers)
    }

    /// Whether no limit is set, which is mostly so and is seen without looking at each.
    private func areOff(_ numbers: LimitNumbers) -> Bool {
        numbers.isEmpty || numbers == .ofAll && !segment.isLimited(LimitNumbers.all)
    }

    /// A hop has its lease no more, or waits for none.
    mutating func leaveLimits(_ fetch: RunningFetch) {
        if let number = fetch.engine.awaitedLimit {
            fetch.engine.awaitedLimit = nil
            limitedHops.remove(fetch.engine.key, number)
        }
        if fetch.engine.leasedLimits.isEmpty { return }
        limitedHops.ended(under: fetch.engine.leasedLimits)
        fetch.engine.leasedLimits = .unlimited
    }

    /// Whether a hop whose turn it is waits, so that those under other limits, and under none, find a lease. It keeps
    /// its place in its host's process.
    mutating func leavesLease(_ fetch: RunningFetch) -> Bool {
        guard areLeasesScarce, !fetch.engine.isSuspect, limitedHops.count < LimitedHops.most,
            let number = crowdedLimit(of: fetch)
        else { return false }
        awaitLimit(number, fetch)
        return true
    }

    private mutating func awaitLimit(_ number: Int, _ fetch: RunningFetch, front: Bool = false) {
        fetch.engine.awaitedLimit = number
        limitedHops.insert(fetch.engine.key, number, front: front)
    }

    /// Whether no more than a quarter of all leases is left.
    private var areLeasesScarce: Bool {
        freeLeases <= min(configuration.transfersInAll, pool.slots.count * configuration.transfersPerWorker) / 4
    }

    private func crowdedLimit(of fetch: RunningFetch) -> Int? {
        let limits = limits(for: fetch)
        return areOff(limits) ? nil : limits.numbers.first { isCrowded($0) }
    }

    private func isCrowded(_ number: Int) -> Bool {
        // Each worker has a place.
        guard let transfers = segment.limit(number).transfers else { return false }
        return limitedHops.isCrowded(number, places: max(transfers, pool.slots.count))
    }

    /// Gives hops that wait for their lease to workers, as far as there are enough again.
    mutating func dispatchLimited() {
        for number in limitedHops.awaited {
            while hasRoom, !areLeasesScarce || !isCrowded(number), let key = limitedHops.next(number) {
                guard let fetch = fetches[key] else { continue }
                fetch.engine.awaitedLimit = nil
                if areLeasesScarce, let other = crowdedLimit(of: fetch) {
                    awaitLimit(other, fetch)
                    continue
                }
                let hop = ReadyHop(
                    hop: key.rawValue, host: fetch.engine.origin, priority: fetch.engine.priority,
                    isProbe: fetch.engine.isProbe)
                if place(hop, fetch) { continue }
                awaitLimit(number, fetch, front: true)
                return
            }
        }
    }

    // MARK: What was reserved

    /// A worker died with a hop: frees its line, and gives back bandwidth that was reserved for a response of which
    /// nothing came.
    func giveBackReservation(of lease: LeaseID, _ fetch: RunningFetch) {
        let line = segment.progress(worker: fetch.engine.worker, transfer: fetch.engine.progressIndex)
        guard line.snapshot()?.lease == lease.rawValue else { return }
        let bytes = Int(min(line.reservation, Self.mostReserved))
        line.free()
        guard bytes > 0 else { return }
        for number in limits(for: fetch).numbers { segment.limit(number).bucket(.down).refund(bytes) }
    }

    /// Reads the workers' counters.
    func meterBandwidth() {
        meter.sample(
            pool.slots.indices.map { slot in
                let line = segment.worker(slot)
                return BandwidthMeter.Counters(received: line.bytesIn, sent: line.bytesOut)
            }, at: now)
    }
}
