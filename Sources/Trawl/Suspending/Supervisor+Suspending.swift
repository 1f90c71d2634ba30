import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision

/// Fetches that their callers suspend and resume (ULS-TASK-06).
extension Supervisor {
    /// What the caller says about a fetch has changed: whether it is suspended, or its priority.
    mutating func controlChanged(_ fetch: RunningFetch) {
        // It may be over, or not have come yet; then it is looked at when it does.
        guard let control = fetch.control, fetches[fetch.engine.key] === fetch, !fetch.engine.life.isAnswered,
            fetch.engine.ending == nil
        else { return }
        if control.isHeld { suspend(fetch) } else { resume(fetch) }
        reorder(fetch)
        urgeLeader(of: fetch)
    }

    /// Puts a hop that waits for its host where its priority has it now.
    mutating func reorder(_ fetch: RunningFetch) {
        let level = max(fetch.ownPriority, fetch.engine.urgency)
        guard let place = fetch.engine.place, fetch.engine.priority != level else { return }
        hosts.queues.remove(fetch.engine.key.rawValue, at: place)
        fetch.engine.priority = level
        fetch.engine.place = hosts.queues.enqueue(fetch.engine.key.rawValue, host: fetch.engine.origin, priority: level)
    }

    /// Whether a hop of a fetch that is about to begin has to wait until the fetch is resumed.
    func holdsBack(_ fetch: RunningFetch) -> Bool {
        guard let suspended = fetch.engine.suspended else { return false }
        return !suspended.machine.mayBegin()
    }

    // MARK: Suspending

    mutating func suspend(_ fetch: RunningFetch) {
        let suspended = fetch.engine.suspended ?? SuspendedFetch()
        fetch.engine.suspended = suspended
        guard !suspended.machine.isSuspended else { return }
        let action = suspended.machine.suspended(lease: fetch.engine.life.activeLease)
        stopClock(of: fetch)
        tell(.status, fetch, "suspended")
        // Nobody waits for what comes nobody knows when.
        release(fetch, .promote)
        switch action {
        case .withdraw: if withdraw(fetch) { suspended.machine.withdrawn() }
        case .rest(let lease):
            suspended.mayBeGivenUp = true
            order(.rest, lease, fetch)
            let end = now.advanced(by: max(.zero, configuration.suspendedConnectionLifetime))
            suspended.connectionEnds = end
            resting.insert(fetch.engine.key, deadline: end)
        case .none: break
        }
        leaveQuestionsIfSuspended(fetch)
    }

    /// Takes a hop out of where it waits for a worker.
    ///
    /// - Returns: Whether it was there. What waits for something else, such as an identical fetch or a decision, goes
    ///   on waiting; what begins after that is held back then.
    @discardableResult
    mutating func withdraw(_ fetch: RunningFetch) -> Bool {
        if let place = fetch.engine.place {
            hosts.queues.remove(fetch.engine.key.rawValue, at: place)
            hosts.release(fetch.engine.origin)
            fetch.engine.place = nil
            return true
        }
        guard fetch.engine.isStoredHop || fetch.engine.isInHostProcess else { return false }
        heldHops.removeAll { $0.hop == fetch.engine.key.rawValue }
        leaveHost(fetch)
        return true
    }

    private mutating func order(_ order: TransferOrder, _ lease: LeaseID, _ fetch: RunningFetch) {
        guard let link = pool.links[fetch.engine.worker] else { return }
        _ = link.send(.order(lease: lease.rawValue, order))
        pool.markDirty(fetch.engine.worker)
    }

    /// Lets those give up their connections that have kept them long enough.
    mutating func endResting() {
        while let key = resting.next(dueAt: now) {
            // An entry may be of an earlier suspension.
            guard let fetch = fetches[key], fetch.engine.ending == nil, !fetch.isReadFromStore,
                let suspended = fetch.engine.suspended, let end = suspended.connectionEnds, end <= now,
                let lease = suspended.machine.timeUp()
            else { continue }
            tell(.status, fetch, "suspended for long: its connection is given up")
            order(.giveUp, lease, fetch)
            cancelling[key] = now.advanced(by: configuration.tolerance.cancelGrace)
        }
        resting.compact(living: fetches.count) { entry in
            fetches[entry.fetch]?.engine.suspended?.connectionEnds == entry.deadline
        }
    }

    /// A lease of a fetch is over, in whatever way: its worker need not give it up any more, and awaits no answer.
    mutating func leaseEnded(_ lease: LeaseID, of fetch: RunningFetch) {
        stopAskingAboutStoring(fetch)
        guard let suspended = fetch.engine.suspended else { return }
        suspended.machine.leaseEnded(lease)
        suspended.mayBeGivenUp = false
        cancelling[fetch.engine.key] = nil
    }

    // MARK: Resuming

    private mutating func resume(_ fetch: RunningFetch) {
        guard let suspended = fetch.engine.suspended, suspended.machine.isSuspended else { return }
        let action = suspended.machine.resumed()
        tell(.status, fetch, "resumed")
        startClock(of: fetch)
        resumeQuestion(of: fetch)
        switch action {
        // A suspect has to run alone, which the cache has no part in.
        case .begin where fetch.engine.isSuspect: enqueue(fetch, front: true)
        case .begin: begin(fetch, front: fetch.engine.attempts > 0)
        case .goOn(let lease): order(.goOn, lease, fetch)
        case .none: break
        }
    }
}

extension RunningFetch {
    /// Whether the hop in flight has no connection, and no other could go on where its reader is: the body comes out of
    /// the store.
    fileprivate var isReadFromStore: Bool { engine.isStoredHop && plan.sink.isReadByOthers }

    /// How urgent its caller says it is; the middle when that has no say.
    var ownPriority: HopPriority { control.map { HopPriority($0.priority) } ?? .normal }
}
