/// Whether the pool as a whole can still do work.
package enum PoolState: Sendable, Hashable {
    /// At least one slot has a worker or will have one.
    case up
    /// Every slot was shut down.
    case stopped
    /// Every slot is given up and at least one for a fault: no hop will ever run. The reason is the first slot's.
    case down(RetireReason)

    /// The state of a pool with these slots. Worth asking when a slot retires.
    package init(of slots: some Sequence<WorkerSlot>) {
        var fault: RetireReason?
        for slot in slots {
            guard let reason = slot.retireReason else {
                self = .up
                return
            }
            if fault == nil && reason != .shutdown { fault = reason }
        }
        if let fault {
            self = .down(fault)
        } else {
            self = .stopped
        }
    }
}
