/// Who holds which hop: a fixed number of leases for each worker.
///
/// Frames come from processes that may be broken or late, so every id they carry is checked here: it must name a lease
/// that is held now, by the worker the frame came from.
///
/// A hop that was in flight at a crash is a *suspect*. The table does not remember hops that hold no lease; it hands
/// the suspicion out with ``LostHop`` and takes it back with the next grant.
package struct LeaseTable: Sendable {
    /// Number of worker slots.
    package let workers: Int
    /// The most leases one worker holds at a time.
    package let leasesPerWorker: Int
    /// Leases that can be granted now to ordinary hops.
    package private(set) var freeCapacity = 0
    /// Leases that are held now.
    package private(set) var heldCount = 0

    private var records: [Record]
    var holders: [Holder]
    var buckets: LoadBuckets
    var hints = OriginHints()
    var shares: ConnectionShares
    /// The worker that takes nothing new until it is idle and a suspect can have it.
    private var setAside: Int?
    /// Whether there is one.
    package var setsAside: Bool { setAside != nil }
    private var readyWorkers = 0
    private var suspectWorkers = 0

    /// A table in which no worker is ready.
    ///
    /// - Parameters:
    ///   - workers: 1 to ``LeaseID/maximumWorkers``.
    ///   - leasesPerWorker: 1 to ``LeaseID/maximumLeasesPerWorker``.
    package init(workers: Int, leasesPerWorker: Int) {
        self.init(workers: workers, leasesPerWorker: leasesPerWorker, lastSerial: 0)
    }

    /// A table whose records behave as if they had been used `lastSerial` times.
    init(workers: Int, leasesPerWorker: Int, lastSerial: UInt64) {
        precondition((1...LeaseID.maximumWorkers).contains(workers), "too many or too few workers")
        precondition((1...LeaseID.maximumLeasesPerWorker).contains(leasesPerWorker), "too many or too few leases")
        self.workers = workers
        self.leasesPerWorker = leasesPerWorker
        records = Array(repeating: Record(serial: lastSerial), count: workers * leasesPerWorker)
        holders = Array(repeating: Holder(), count: workers)
        buckets = LoadBuckets(workers: workers, maximumLoad: leasesPerWorker)
        shares = ConnectionShares(workers: workers)
        for worker in 0..<workers { fillFreeList(of: worker) }
    }

    // MARK: Workers

    /// A new generation in this slot takes leases from now on. The loss of the one before must have been told.
    package mutating func workerReady(_ worker: Int) {
        precondition(holders[worker].state == .absent, "a worker became ready twice")
        readyWorkers += 1
        makeAvailable(worker)
    }

    /// The worker keeps what it holds and gets nothing new.
    package mutating func workerDraining(_ worker: Int) {
        guard holders[worker].state != .absent else { return }
        leave(worker, for: .draining)
    }

    /// The worker is gone, in whatever state it was: all its leases are void, and each hop gets its verdict.
    ///
    /// A hop may run again when it is idempotent or nothing of it was sent. After a crash it does so as a suspect; a
    /// suspect always runs alone, so one that meets a crash has met its second and fails. An exit that is no crash adds
    /// no suspicion and has no limit.
    ///
    /// - Parameters:
    ///   - exit: As ``WorkerSlot/attributed(_:)`` gives it.
    ///   - wasSent: Whether a byte of the request may have left (the lease's progress word).
    ///   - isIdempotent: Whether the hop's request may be repeated, RFC 9110 §9.2.2.
    package mutating func workerLost(
        _ worker: Int, exit: WorkerExit, wasSent: (LeaseID) -> Bool, isIdempotent: (HopID) -> Bool
    ) -> [LostHop] {
        var lost: [LostHop] = []
        lost.reserveCapacity(Int(holders[worker].load))
        for index in 0..<leasesPerWorker {
            let record = records[worker * leasesPerWorker + index]
            guard record.isHeld else { continue }
            let id = LeaseID(serial: record.serial, worker: worker, index: index)
            let verdict = Self.verdict(
                on: record, isCrash: exit.isCrash, isRepeatable: isIdempotent(record.hop) || !wasSent(id))
            lost.append(LostHop(hop: record.hop, lease: id, verdict: verdict))
        }
        leave(worker, for: .absent)
        heldCount -= lost.count
        shares.lost(worker)
        holders[worker].load = 0
        fillFreeList(of: worker)
        return lost
    }

    /// How many leases the worker holds.
    package func heldCount(of worker: Int) -> Int {
        Int(holders[worker].load)
    }

    // MARK: Leases

    /// The worker that should get the next hop of this origin; `nil` when none can take it now.
    ///
    /// An ordinary hop goes to the worker that had the origin last, since it likely has a connection, unless that one
    /// holds more than a quarter and one more than the worker with the fewest leases: so connections are reused, and
    /// yet one busy origin spreads over all workers. Otherwise it goes to the one with the fewest.
    ///
    /// A suspect goes only to a worker without any lease. When there is none, the worker with the fewest is set aside:
    /// it gets nothing new until it is idle. One is set aside at a time, and together with those that run suspects
    /// never more than half of the pool, or one. Offer waiting suspects before ordinary hops, else these take the
    /// worker; and say when none waits any more (``noSuspectWaits()``).
    package mutating func choose(for origin: OriginKey, isSuspect: Bool) -> Int? {
        guard let least = buckets.least, holders[least.worker].free > 0 else { return nil }
        if isSuspect {
            if least.load == 0 { return least.worker }
            if setAside == nil && (suspectWorkers == 0 || suspectWorkers < readyWorkers / 2) {
                leave(least.worker, for: .setAside)
            }
            return nil
        }
        if let warm = hints.worker(for: origin), warm < workers {
            let holder = holders[warm]
            if holder.state == .available && holder.free > 0 && Int(holder.load) <= least.load + least.load / 4 + 1 {
                return warm
            }
        }
        return least.worker
    }

    /// No suspect waits any more: a worker that was set aside takes ordinary hops again. What it holds may last for
    /// long.
    package mutating func noSuspectWaits() {
        if let worker = setAside { restore(worker) }
    }

    /// Gives a hop to a worker that ``choose(for:isSuspect:)`` or ``place(_:isSuspect:limit:)`` just named.
    ///
    /// - Parameter isCounted: Whether its connection counts for the origin: ``countsConnections(_:)``.
    package mutating func grant(
        hop: HopID, origin: OriginKey, to worker: Int, isSuspect: Bool, isCounted: Bool = false
    ) -> LeaseGrant {
        let holder = holders[worker]
        precondition(holder.state == .available && holder.free > 0, "the worker cannot take a lease")
        precondition(!isSuspect || holder.load == 0, "a suspect runs alone")
        let index = Int(holder.firstFree)
        let position = worker * leasesPerWorker + index
        let serial = records[position].serial + 1
        holders[worker].firstFree = records[position].nextFree
        records[position].serial = serial
        records[position].hop = hop
        records[position].isHeld = true
        records[position].isSuspect = isSuspect
        records[position].isCancelled = false
        records[position].isCounted = isCounted
        if isCounted {
            records[position].origin = origin
            records[position].grew = shares.granted(origin, to: worker)
        }
        if isSuspect { leave(worker, for: .suspect) }
        holders[worker].load = holder.load + 1
        holders[worker].free = holder.free - 1
        if !isSuspect {
            buckets.move(worker, from: Int(holder.load), to: Int(holder.load) + 1)
            freeCapacity -= 1
        }
        heldCount += 1
        hints.used(origin, by: worker)
        return LeaseGrant(
            id: LeaseID(serial: serial, worker: worker, index: index), progressIndex: UInt16(truncatingIfNeeded: index))
    }

    /// The worker says that a lease is over.
    ///
    /// - Parameter connections: How many to the origin it has open then, where they are counted; nil for a lease that
    ///   was never sent.
    /// - Returns: Its hop, once; `nil` for an id that is old, unknown or another worker's.
    package mutating func ended(_ id: LeaseID, from worker: Int, connections: Int? = nil) -> HopID? {
        guard let position = position(of: id, from: worker) else { return nil }
        let hop = records[position].hop
        records[position].isHeld = false
        if records[position].isCounted {
            let origin = records[position].origin
            if let connections {
                shares.ended(origin, at: worker, open: connections)
            } else {
                shares.withdrawn(origin, from: worker, grew: records[position].grew)
            }
        }
        heldCount -= 1
        let load = Int(holders[worker].load)
        holders[worker].load -= 1
        let isReusable = records[position].serial < LeaseID.maximumSerial
        if isReusable {
            records[position].nextFree = holders[worker].firstFree
            holders[worker].firstFree = Int32(truncatingIfNeeded: id.index)
            holders[worker].free += 1
        }
        switch holders[worker].state {
        case .available:
            buckets.move(worker, from: load, to: load - 1)
            if isReusable { freeCapacity += 1 }
        case .setAside, .suspect:
            if load == 1 { restore(worker) }
        case .draining, .absent:
            break
        }
        return hop
    }

    /// The hop that this worker holds under this id; `nil` for an id that is old, unknown or another worker's.
    package func hop(of id: LeaseID, from worker: Int) -> HopID? {
        position(of: id, from: worker).map { records[$0].hop }
    }

    /// The hop of a held lease, whichever worker has it.
    package func hop(of id: LeaseID) -> HopID? { hop(of: id, from: id.worker) }

    /// The caller no longer wants the hop of this lease. The lease stays held until the worker ends it.
    ///
    /// - Returns: The worker to tell; `nil` when the lease is over or the worker was told before.
    package mutating func cancelRequested(_ id: LeaseID) -> Int? {
        guard let position = position(of: id, from: id.worker), !records[position].isCancelled else { return nil }
        records[position].isCancelled = true
        return id.worker
    }
}

extension LeaseTable {
    private struct Record: Sendable {
        var hop: HopID = 0
        /// Of the lease that is held, or of the last one.
        var serial: UInt64 = 0
        var nextFree: Int32 = -1
        /// That of the hop, where its connection is counted.
        var origin: OriginKey = 0
        var isHeld = false
        var isSuspect = false
        var isCancelled = false
        var isCounted = false
        /// Whether its worker may have a connection more because of it.
        var grew = false
    }

    struct Holder: Sendable {
        var state = HolderState.absent
        var load: Int32 = 0
        var free: Int32 = 0
        var firstFree: Int32 = -1
    }

    enum HolderState: UInt8, Sendable {
        case absent
        /// In the buckets; its free leases count.
        case available
        /// Takes nothing until it is idle.
        case setAside
        /// Runs one suspect and nothing else.
        case suspect
        case draining
    }

    private static func verdict(on record: Record, isCrash: Bool, isRepeatable: Bool) -> LostHop.Verdict {
        if record.isCancelled { return .cancelled }
        if isCrash && record.isSuspect { return .fail(.secondCrash) }
        if !isRepeatable { return .fail(.notRepeatable) }
        return .requeue(asSuspect: isCrash || record.isSuspect)
    }

    private func position(of id: LeaseID, from worker: Int) -> Int? {
        let index = id.index
        guard id.worker == worker, worker < workers, index < leasesPerWorker else { return nil }
        let position = worker * leasesPerWorker + index
        let record = records[position]
        return record.isHeld && record.serial == id.serial ? position : nil
    }

    /// A worker that took no ordinary hops takes them again.
    private mutating func restore(_ worker: Int) {
        leave(worker, for: .absent)
        readyWorkers += 1
        makeAvailable(worker)
    }

    private mutating func makeAvailable(_ worker: Int) {
        holders[worker].state = .available
        buckets.insert(worker, load: Int(holders[worker].load))
        freeCapacity += Int(holders[worker].free)
    }

    /// Takes a worker out of its present state, with all that the table counts for it.
    private mutating func leave(_ worker: Int, for state: HolderState) {
        switch holders[worker].state {
        case .absent:
            break
        case .available:
            buckets.remove(worker, load: Int(holders[worker].load))
            freeCapacity -= Int(holders[worker].free)
            readyWorkers -= 1
        case .setAside:
            setAside = nil
            readyWorkers -= 1
        case .suspect:
            suspectWorkers -= 1
            readyWorkers -= 1
        case .draining:
            break
        }
        holders[worker].state = state
        switch state {
        case .setAside:
            setAside = worker
            readyWorkers += 1
        case .suspect:
            suspectWorkers += 1
            readyWorkers += 1
        case .available, .absent, .draining:
            break
        }
    }

    /// Makes all records of a worker free, except those whose serials are used up: they are never held again.
    private mutating func fillFreeList(of worker: Int) {
        var first: Int32 = -1
        var free: Int32 = 0
        for index in (0..<leasesPerWorker).reversed() {
            let position = worker * leasesPerWorker + index
            records[position].isHeld = false
            guard records[position].serial < LeaseID.maximumSerial else { continue }
            records[position].nextFree = first
            first = Int32(truncatingIfNeeded: index)
            free += 1
        }
        holders[worker].firstFree = first
        holders[worker].free = free
    }
}
