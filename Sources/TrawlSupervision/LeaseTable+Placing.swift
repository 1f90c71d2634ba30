/// Which worker takes a hop, where connections to its origin are limited.
extension LeaseTable {
    /// Where a hop goes.
    package enum Placement: Equatable, Sendable {
        /// To that worker. Unless it keeps the connection, that is to be closed at the hop's end, so that the next one
        /// can be opened by a worker with less to do.
        case worker(Int, keepsConnection: Bool)
        /// No worker can take it now.
        case nowhere
        /// All connections that are allowed may be open, and no worker that has an idle one can take the hop: one has
        /// to be closed first. That worker is to be asked; nil when it has been.
        case awaitsConnection(askedOf: Int?)
    }

    /// Whether connections to an origin with that limit are counted here. A single worker counts them itself.
    ///
    /// - Parameter limit: The most connections over all workers; `UInt32.max` is no limit.
    @inline(__always)
    package func countsConnections(_ limit: UInt32) -> Bool {
        workers > 1 && limit != .max
    }

    /// As ``choose(for:isSuspect:)``, with no more connections to the origin over all workers than `limit`.
    ///
    /// As long as fewer hops of the origin are leased than the limit, one of these holds: another connection may be
    /// opened, by whichever worker; or a worker may have one that is idle. Of those workers one that is not notably
    /// busier than others is taken before another connection is opened. A worker that is notably busier is taken when
    /// no other may open one, and then the connection moves on. A worker that has an idle one and takes no hops at all
    /// (it is full, leaves, or is for a suspect) is asked to close it.
    package mutating func place(_ origin: OriginKey, isSuspect: Bool, limit: UInt32) -> Placement {
        guard countsConnections(limit), let row = shares.row(of: origin) else {
            guard let worker = choose(for: origin, isSuspect: isSuspect) else { return .nowhere }
            return .worker(worker, keepsConnection: true)
        }
        guard let least = buckets.least, holders[least.worker].free > 0 else { return .nowhere }
        let mayGrow = shares.total(row) < Int(limit)
        if isSuspect { return placeSuspect(origin, row, mayGrow: mayGrow, least) }
        let high = least.load + least.load / 4 + 1
        let warm = hints.worker(for: origin) ?? least.worker
        if warm < workers, takes(warm), Int(holders[warm].load) <= high, shares.spare(row, warm) > 0 {
            return .worker(warm, keepsConnection: true)
        }
        let spare = leastLoaded(row)
        if let spare, Int(holders[spare].load) <= high { return .worker(spare, keepsConnection: true) }
        if mayGrow {
            let isGood = warm < workers && takes(warm) && Int(holders[warm].load) <= high
            return .worker(isGood ? warm : least.worker, keepsConnection: true)
        }
        if let spare { return .worker(spare, keepsConnection: false) }
        return awaitConnection(row)
    }

    private mutating func placeSuspect(
        _ origin: OriginKey, _ row: Int, mayGrow: Bool, _ least: (worker: Int, load: Int)
    ) -> Placement {
        guard least.load == 0 else {
            _ = choose(for: origin, isSuspect: true)
            return .nowhere
        }
        if mayGrow || shares.spare(row, least.worker) > 0 { return .worker(least.worker, keepsConnection: true) }
        if let spare = leastLoaded(row), holders[spare].load == 0 { return .worker(spare, keepsConnection: true) }
        return awaitConnection(row)
    }

    /// Of the workers that may have an idle connection and take hops the one with the fewest leases.
    private func leastLoaded(_ row: Int) -> Int? {
        var best: Int?
        for worker in 0..<workers where shares.spare(row, worker) > 0 && takes(worker) {
            if let known = best, holders[known].load <= holders[worker].load { continue }
            best = worker
        }
        return best
    }

    @inline(__always)
    private func takes(_ worker: Int) -> Bool {
        holders[worker].state == .available && holders[worker].free > 0
    }

    /// One question at a time: the next is asked when that one is answered and the hop still waits.
    private mutating func awaitConnection(_ row: Int) -> Placement {
        if shares.hasAsked(row) { return .awaitsConnection(askedOf: nil) }
        for worker in 0..<workers where shares.closable(row, worker) > 0 {
            shares.asked(row, worker, 1)
            return .awaitsConnection(askedOf: worker)
        }
        return .awaitsConnection(askedOf: nil)
    }

    /// The worker says how many connections to an origin it has open, other than at the end of a lease.
    ///
    /// - Returns: Whether that is news; a good worker tells nothing else.
    package mutating func told(_ origin: OriginKey, by worker: Int, open: Int) -> Bool {
        worker < workers && shares.told(origin, by: worker, open: open)
    }

    /// The limit of an origin was lowered: which workers are to close how many idle connections.
    package mutating func surplus(of origin: OriginKey, limit: UInt32) -> [(worker: Int, count: Int)] {
        guard countsConnections(limit), let row = shares.row(of: origin) else { return [] }
        var excess = shares.total(row) - Int(limit)
        var asked: [(worker: Int, count: Int)] = []
        for worker in 0..<workers where excess > 0 {
            let count = min(excess, shares.closable(row, worker))
            guard count > 0 else { continue }
            shares.asked(row, worker, count)
            asked.append((worker, count))
            excess -= count
        }
        return asked
    }

    /// Whether ``takeFoundOrigin()`` or ``takeForgottenOrigin()`` has something to give.
    package var hasNewsOfOrigins: Bool { !shares.found.isEmpty || !shares.forgotten.isEmpty }

    /// An origin that came to be counted, and keeps its number from now on; nil when there is none. Each is given once,
    /// has connections, and may have been forgotten before it was found again: take all of these before those.
    package mutating func takeFoundOrigin() -> OriginKey? { shares.found.popLast() }

    /// An origin that is not counted any more; nil when there is none. Each is given once for each time it was found.
    package mutating func takeForgottenOrigin() -> OriginKey? { shares.forgotten.popLast() }
}
