import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlSupervision

/// From a caller to a worker: queueing, and whose turn it is.
extension Supervisor {
    /// A caller's fetch arrives.
    mutating func submit(_ fetch: RunningFetch) {
        if case .nobody = fetch.reply, !admitRevalidation(fetch) { return }
        enter(fetch)
    }

    /// A fetch begins that was let in.
    mutating func enter(_ fetch: RunningFetch) {
        fetch.engine.key = fetches.insert(fetch)
        countStart(of: fetch)
        if let downReason { return conclude(fetch, downReason) }
        if case .no = closing {
        } else if !mayStillValidate(fetch) {
            return conclude(fetch, .shutDown(url: fetch.plan.target.text))
        }
        let clock = fetch.reply.clock?.reading
        limitWhole(fetch, until: clock?.wholeDeadline)
        if let policy = fetch.plan.terms.retry, !fetch.isForNobody {
            fetch.engine.retries = Attempts(policy)
        }
        if fetch.plan.terms.waitsForNetwork, !fetch.isForNobody {
            fetch.engine.networkWait = NetworkWait(limit: fetch.plan.terms.networkLimit)
        }
        if let clock, clock.isExchanging { goOnExchanging(fetch, until: clock.exchangeDeadline) }
        if fetch.plan.wantsEvents { observed.insert(fetch.engine.key) }
        if fetch.control?.isHeld == true { suspend(fetch) }
        if let time = clock?.nextBeginning, time > now { return park(fetch, until: time) }
        // Whose exchange runs has had its turn.
        begin(fetch, front: fetch.engine.exchange != .ahead)
    }

    mutating func enqueue(_ fetch: RunningFetch, front: Bool) {
        guard !holdsBack(fetch), hasWay(fetch, front: front), hasAddress(fetch, front: front) else { return }
        fetch.engine.origin = retainHost(of: fetch)
        fetch.engine.priority = max(fetch.ownPriority, fetch.engine.urgency)
        fetch.engine.place = hosts.queues.enqueue(
            fetch.engine.key.rawValue, host: fetch.engine.origin, priority: fetch.engine.priority, front: front)
    }

    /// Who decides for a fetch: its own decider, else the coordinator's, and only one of them; nil when nobody may be
    /// asked.
    func decider(of fetch: RunningFetch) -> (any FetchDecisions)? {
        fetch.asksProgram ? fetch.engine.decisions ?? configuration.decisions : nil
    }

    /// Whether somebody does.
    func hasDecider(_ fetch: RunningFetch) -> Bool {
        fetch.asksProgram && (fetch.engine.decisions != nil || configuration.decisions != nil)
    }

    /// Who decides how a response to a fetch is stored; nil when nobody may be asked.
    func storingDecider(of fetch: RunningFetch) -> (any FetchDecisions)? {
        fetch.asksAboutStoring ? fetch.engine.decisions ?? configuration.decisions : nil
    }

    /// Whether another lease may be granted.
    var hasRoom: Bool {
        leases.freeCapacity > 0 && leases.heldCount < configuration.transfersInAll && memory?.admitsLease ?? true
    }

    /// Leases that may be granted, as far as there is memory.
    var freeLeases: Int { min(leases.freeCapacity, configuration.transfersInAll - leases.heldCount) }

    /// Gives waiting hops to workers as long as both are there.
    mutating func dispatch() {
        failNameless()
        failAbandoned()
        beginRevalidations()
        // A worker that is set aside for a suspect must not be taken before it.
        if !heldHops.isEmpty { dispatchHeld() }
        if leases.setsAside, !holdsSuspect { leases.noSuspectWaits() }
        dispatchStored()
        if limitedHops.count > 0 { dispatchLimited() }
        while hasRoom, let ready = hosts.queues.next(at: now, random: lot()) {
            guard let fetch = fetches[FetchKey(rawValue: ready.hop)] else {
                hosts.queues.returned(ready.host, at: now, wasProbe: ready.isProbe)
                continue
            }
            fetch.engine.place = nil
            if !unknownNames.isEmpty, failsByName(ready, fetch) { continue }
            fetch.engine.isInHostProcess = true
            fetch.engine.isProbe = ready.isProbe
            if leavesLease(fetch) { continue }
            if place(ready, fetch) { continue }
            if fetch.engine.isSuspect {
                heldHops.append(ready)
                continue
            }
            fetch.engine.isInHostProcess = false
            fetch.engine.place = hosts.queues.putBack(ready)
            return
        }
    }

    /// Whether a suspect waits for a worker of its own.
    private var holdsSuspect: Bool {
        heldHops.contains { fetches[FetchKey(rawValue: $0.hop)]?.engine.isSuspect == true }
    }

    /// Gives a hop that left its queue to a worker, or holds it until a connection that stands in its way is closed.
    ///
    /// - Returns: False when no worker has room for it.
    mutating func place(_ hop: ReadyHop, _ fetch: RunningFetch) -> Bool {
        if becomesSecure(hop, fetch) { return true }
        let limit = hosts.queues.limit(of: hop.host)
        switch leases.place(hop.host, isSuspect: fetch.engine.isSuspect, limit: limit) {
        case .worker(let worker, let keepsConnection):
            lease(fetch, to: worker, limit: limit, keepsConnection: keepsConnection)
        case .awaitsConnection(let holder):
            heldHops.append(hop)
            if let holder { askToClose(1, hop.host, of: holder) }
        case .nowhere:
            return false
        }
        return true
    }
}
