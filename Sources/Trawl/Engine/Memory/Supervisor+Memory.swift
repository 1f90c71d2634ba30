import TrawlProtocol
import TrawlSupervision

/// The memory that bodies take: how much there is, who waits for some, and who gave it back.
extension Supervisor {
    /// A worker wants to keep more of a body than there is room for.
    ///
    /// - Returns: False when that makes no sense.
    mutating func wanted(_ lease: UInt64, _ wish: MemoryWish, from link: WorkerLink) -> Bool {
        guard let fetch = fetch(of: lease, from: link) else { return passesOver(lease, from: link) }
        guard memory != nil, max(wish.total, wish.holding) <= fetch.plan.terms.profile.memoryBytes else {
            refuse(link, "a wish for memory above its limit")
            return false
        }
        memory?.wanted(
            LeaseID(rawValue: lease), holding: Int(clamping: wish.holding), total: Int(clamping: wish.total),
            isWhole: wish.isWhole)
        // As a worker's clocks do.
        stopClock(of: fetch)
        return true
    }

    /// A lease is over, and with it what its body held in the worker.
    mutating func endMemory(of lease: LeaseID, _ hop: HopID) {
        guard memory?.ended(lease) == true, let fetch = fetches[FetchKey(rawValue: hop)] else { return }
        startClock(of: fetch)
    }

    /// A body goes to its reader, and counts until that lets go of it.
    mutating func lend(_ result: inout Result<Response, FetchError>) {
        guard let ledger, case .success(var response) = result, !response.body.isEmpty else { return }
        let bytes = response.body.count
        memory?.handedOver(bytes)
        response.memory = HeldMemory(bytes, of: ledger)
        result = .success(response)
    }

    /// Gives out what has come back.
    mutating func settleMemory() {
        guard let ledger else { return }
        memory?.letGo(ledger.take())
        for grant in memory?.grants() ?? [] {
            guard let hop = leases.hop(of: grant.lease), let fetch = fetches[FetchKey(rawValue: hop)],
                let link = pool.links[fetch.engine.worker]
            else { continue }
            startClock(of: fetch)
            var left = grant.bytes
            while left > 0 {
                let bytes = UInt32(clamping: left)
                _ = link.send(.credit(lease: grant.lease.rawValue, bytes: bytes))
                left -= Int(bytes)
            }
            pool.markDirty(link.slot)
        }
        if let memory, memory.isAwaited || !memory.admitsLease { ledger.wakeOnNext() }
    }
}
