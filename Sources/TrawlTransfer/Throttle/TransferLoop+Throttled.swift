import TrawlPlatform
import TrawlProtocol

/// Transfers that wait for bandwidth. They go on in the order in which they came to wait, each with a step.
extension TransferLoop {
    /// The longest time until the limits are looked at again: they may have been changed, and another worker may have
    /// given back what it had reserved.
    private static let longestWait: UInt64 = 10_000_000

    /// The limits of these numbers; nil for none.
    func limits(_ numbers: LimitNumbers) -> LimitSet? {
        if numbers.isEmpty { return nil }
        if let last = lastLimits, last.numbers == numbers { return last }
        let limits = limitSets[numbers] ?? LimitSet(numbers, numbers.numbers.map { limitUse($0) })
        limitSets[numbers] = limits
        lastLimits = limits
        return limits
    }

    private func limitUse(_ number: Int) -> LimitUse {
        if let use = limitUses[number] { return use }
        let use = LimitUse(segment.limit(number))
        limitUses[number] = use
        return use
    }

    /// Whether a transfer need not wait: it is its turn or nobody waits for longer, and there is no debt. Not too many
    /// may be under way.
    func mayPass(_ transfer: Transfer, waitingWith wait: Transfer.BandwidthWait) -> Bool {
        guard let limits = transfer.limits else { return true }
        return (throttled.isEmpty || transfer === turnOf) && debt(limits, wait) == 0
            && (wait != .start || hasRoom(under: limits))
    }

    /// Whether another transfer may begin: none of its limits has as many under way as it has places.
    private func hasRoom(under limits: LimitSet) -> Bool {
        if limits.hasPlaces(beyond: transfersInMulti, workers: segment.workers) { return true }
        countPlaces()
        return limits.hasRoom(workers: segment.workers, in: placesRound)
    }

    /// Counts the places that are taken, anew in each turn.
    private func countPlaces() {
        guard placesTurn != turnNumber else { return }
        placesTurn = turnNumber
        placesRound &+= 1
        for transfer in activeTransfers where transfer.takesPlace { transfer.limits?.takePlace(in: placesRound) }
    }

    /// The transfer goes on when there is bandwidth for it.
    func awaitBandwidth(_ transfer: Transfer) {
        throttled.append(transfer)
        throttleDue = min(throttleDue, now &+ debt(of: transfer))
    }

    /// A transfer has ended: one that waits for its place may go on.
    func gavePlaceBack() {
        if !throttled.isEmpty { throttleDue = now }
    }

    private func debt(of transfer: Transfer) -> UInt64 {
        guard let limits = transfer.limits, let wait = transfer.awaitsBandwidth else { return 0 }
        return debt(limits, wait)
    }

    private func debt(_ limits: LimitSet, _ wait: Transfer.BandwidthWait) -> UInt64 {
        switch wait {
        case .start: max(limits.debt(.down, at: now), limits.debt(.up, at: now))
        case .download: limits.debt(.down, at: now)
        case .upload: limits.debt(.up, at: now)
        }
    }

    /// Lets those go on for which there is bandwidth.
    func giveBandwidth() {
        guard !throttled.isEmpty, now >= throttleDue else { return }
        let waiting = throttled
        throttled.removeAll(keepingCapacity: true)
        throttleDue = now &+ Self.longestWait
        for transfer in waiting { transfer.settleWaiting() }
        var still: ContiguousArray<Transfer> = []
        for transfer in waiting {
            // Ended meanwhile.
            guard let wait = transfer.awaitsBandwidth, let limits = transfer.limits else { continue }
            let debt = debt(limits, wait)
            if debt == 0, wait != .start || hasRoom(under: limits) {
                turnOf = transfer
                transfer.goOnWithBandwidth()
            } else {
                still.append(transfer)
                if debt > 0 { throttleDue = min(throttleDue, now &+ debt) }
            }
        }
        turnOf = nil
        // Those that went on and wait again come after those that still wait.
        still.append(contentsOf: throttled)
        throttled = still
    }

    /// Milliseconds until somebody may go on, if that is sooner.
    func untilBandwidth(_ milliseconds: Int32) -> Int32 {
        guard !throttled.isEmpty else { return milliseconds }
        guard throttleDue > now else { return 0 }
        return Int32(clamping: min(UInt64(max(0, milliseconds)), (throttleDue - now + 999_999) / 1_000_000))
    }
}
