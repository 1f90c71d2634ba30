package import TrawlHTTP

/// When hosts are held back, and for how long.
extension HostQueues {
    /// What is kept of a host that is, or was, held back, has rules of its own, or hops of several priorities.
    struct Manners: Sendable {
        var ownLimit: Int?
        var ownDelay: StartDelay?
        /// The time before which no hop starts because of the delay; 0 is none.
        var nextStart: UInt64 = 0
        /// The same because of `Retry-After` or an open circuit.
        var snoozedUntil: UInt64 = 0
        /// When a hop started, and when one ended, last: what another delay counts from. 0 is not known.
        var lastStart: UInt64 = 0
        var lastEnd: UInt64 = 0
        var circuit = HostCircuit()
        /// Its place in `levelEnds`; none as long as all that wait are of the middle.
        var levels = Link.none
    }

    // MARK: Rules

    /// Gives a host a limit of its own.
    ///
    /// - Parameter limit: Hops in process; 0 is no limit, nil the one for all hosts. Hops in process go on when there
    ///   are more of them than that.
    package mutating func setLimit(_ limit: Int?, of host: UInt32) {
        precondition(limit ?? 0 >= 0, "a limit is not negative")
        let index = entry(of: host)
        manners[mannersPlace(index)].ownLimit = limit
        applyRules(index)
    }

    /// Gives a host a delay of its own, as its robots rules may ask for; nil is the one for all hosts.
    ///
    /// Another one than before holds from the last end or start on, as far as that is known: of hosts without a delay,
    /// and without anything else that is kept of them, it is not. Chance adds nothing to the first wait.
    package mutating func setDelay(_ delay: StartDelay?, of host: UInt32) {
        let index = entry(of: host)
        let place = mannersPlace(index)
        let before = manners[place].ownDelay ?? politeness.delay
        manners[place].ownDelay = delay
        let after = delay ?? politeness.delay
        if after != before {
            let last = MonotonicInstant(
                nanoseconds: after.basis == .end ? manners[place].lastEnd : manners[place].lastStart)
            let isFree = after.isNone || last.nanoseconds == 0
            manners[place].nextStart = isFree ? 0 : last.advanced(by: after.least).nanoseconds
        }
        applyRules(index)
    }

    /// Starts no hop of a host before a time, because it asked for that (`Retry-After`, RFC 9110 §10.2.3).
    ///
    /// Of several such times the latest counts. The caller caps it.
    package mutating func snooze(_ host: UInt32, until time: MonotonicInstant) {
        let index = entry(of: host)
        let place = mannersPlace(index)
        manners[place].snoozedUntil = max(manners[place].snoozedUntil, time.nanoseconds)
        holdOrRelease(index, at: MonotonicInstant(nanoseconds: 0))
        settle(index)
    }

    /// Whether the hops of a host keep a distance.
    package func hasDelay(of host: UInt32) -> Bool { !delay(of: host).isNone }

    /// For how long no hop of a host starts from now on, as far as that is known; zero for one that is given up, too.
    ///
    /// - Parameter isEnding: Whether a hop of it is just about to end: its distance counts from there.
    package func holdOff(of host: UInt32, at now: MonotonicInstant, isEnding: Bool = false) -> Duration {
        let known = wakeUps.time(of: host).map { max(.zero, now.duration(to: $0)) } ?? .zero
        let delay = delay(of: host)
        return isEnding && delay.basis == .end ? max(known, delay.least) : known
    }

    private func delay(of host: UInt32) -> StartDelay {
        guard host < hosts.count, hosts[Int(host)].manners != Link.none else { return politeness.delay }
        return manners[Int(hosts[Int(host)].manners)].ownDelay ?? politeness.delay
    }

    // MARK: Giving up

    /// Gives a host up: none of its hops starts any more; those that wait, and come, are for ``nextAbandoned()``.
    package mutating func retire(_ host: UInt32) {
        let index = entry(of: host)
        hosts[index].isRetired = true
        hosts[index].isHeldBack = true
        wakeUps.remove(host)
        settle(index)
    }

    /// Takes a host that was given up back, as if nothing had been known of it but rules of its own.
    package mutating func restore(_ host: UInt32) {
        guard host < hosts.count, hosts[Int(host)].isRetired else { return }
        let index = Int(host)
        hosts[index].isRetired = false
        if hosts[index].manners != Link.none {
            let place = Int(hosts[index].manners)
            manners[place].circuit = HostCircuit()
            manners[place].nextStart = 0
            manners[place].snoozedUntil = 0
            manners[place].lastStart = 0
            manners[place].lastEnd = 0
        }
        holdOrRelease(index, at: MonotonicInstant(nanoseconds: 0))
        settle(index)
    }

    /// A hop that waited for a host that was given up, and does not wait any more; nil when there is none.
    ///
    /// It is not in process: there is nothing to return.
    package mutating func nextAbandoned() -> UInt64? {
        guard abandoned.first != Link.none else { return nil }
        let index = Int(abandoned.first)
        let node = hosts[index].first
        let hop = nodes[Int(node)].hop
        take(node, from: index)
        settle(index)
        return hop
    }

    // MARK: What outlives hops

    /// Whether something of the host has to be kept although it has no hops: it is held back for a time, or retired.
    ///
    /// Failures that were counted are not kept for their own sake, or memory would follow every host that ever failed.
    /// Nor are rules of its own: who gives a host its number gives it its rules too.
    package func isKept(_ host: UInt32) -> Bool {
        guard host < hosts.count else { return false }
        return hosts[Int(host)].isRetired || wakeUps.contains(host)
    }

    /// Forgets all about a host without hops, because its number will be another's.
    package mutating func forget(_ host: UInt32) {
        guard host < hosts.count else { return }
        let index = Int(host)
        precondition(
            hosts[index].first == Link.none && hosts[index].inProcess == 0, "a host with hops cannot be forgotten")
        wakeUps.remove(host)
        if hosts[index].manners != Link.none {
            manners[Int(hosts[index].manners)] = Manners()
            freeManners.append(hosts[index].manners)
        }
        hosts[index] = Host(limit: Self.effective(politeness.limitPerHost, politeness.delay))
    }

    /// How the host's circuit stands.
    package func circuitState(of host: UInt32) -> HostCircuit.State {
        guard host < hosts.count, hosts[Int(host)].manners != Link.none else { return .closed }
        return manners[Int(hosts[Int(host)].manners)].circuit.state
    }

    // MARK: Inside

    /// The limit by all rules: with a delay from end to start, hops follow each other one by one.
    static func effective(_ limit: Int, _ delay: StartDelay) -> UInt32 {
        if !delay.isNone && delay.basis == .end { return 1 }
        return limit == 0 ? .max : UInt32(clamping: limit)
    }

    private mutating func applyRules(_ index: Int) {
        var limit = politeness.limitPerHost
        var delay = politeness.delay
        if hosts[index].manners != Link.none {
            let place = Int(hosts[index].manners)
            limit = manners[place].ownLimit ?? limit
            delay = manners[place].ownDelay ?? delay
            holdOrRelease(index, at: MonotonicInstant(nanoseconds: 0))
        }
        hosts[index].limit = Self.effective(limit, delay)
        settle(index)
    }

    mutating func mannersPlace(_ index: Int) -> Int {
        if hosts[index].manners != Link.none { return Int(hosts[index].manners) }
        let place: UInt32
        if let free = freeManners.popLast() {
            place = free
        } else {
            place = UInt32(truncatingIfNeeded: manners.count)
            manners.append(Manners())
        }
        hosts[index].manners = place
        return Int(place)
    }

    /// A hop of the host starts. Returns whether it is the probe.
    mutating func started(_ index: Int, _ now: MonotonicInstant, _ random: Double) -> Bool {
        let place = mannersPlace(index)
        let isProbe = manners[place].circuit.started()
        let delay = manners[place].ownDelay ?? politeness.delay
        manners[place].snoozedUntil = 0
        manners[place].lastStart = now.nanoseconds
        manners[place].nextStart =
            delay.isNone || delay.basis == .end ? 0 : now.advanced(by: delay.duration(random: random)).nanoseconds
        holdOrRelease(index, at: now)
        return isProbe
    }

    /// A hop that was handed out did not start.
    mutating func didNotStart(_ index: Int, wasProbe: Bool) {
        let place = Int(hosts[index].manners)
        manners[place].nextStart = 0
        manners[place].lastStart = 0
        if wasProbe { manners[place].circuit.probeDidNotStart() }
        holdOrRelease(index, at: MonotonicInstant(nanoseconds: 0))
    }

    /// A hop of the host ended; its place is free already.
    mutating func ended(
        _ index: Int, _ now: MonotonicInstant, _ outcome: HostOutcome, _ wasProbe: Bool, _ random: Double
    ) -> HostChange {
        let place = mannersPlace(index)
        var change = HostChange.none
        if let policy = politeness.circuit {
            let action =
                wasProbe
                ? manners[place].circuit.probeEnded(outcome, by: policy, random: random)
                : manners[place].circuit.ended(outcome, by: policy, random: random)
            switch action {
            case .none: break
            case .open(let wait):
                let until = max(manners[place].snoozedUntil, now.advanced(by: wait).nanoseconds)
                manners[place].snoozedUntil = until
                change = .opened(until: MonotonicInstant(nanoseconds: until))
            case .close: change = .closed
            case .retire:
                if !hosts[index].isRetired { change = .retired }
                retire(UInt32(truncatingIfNeeded: index))
            }
        }
        let delay = manners[place].ownDelay ?? politeness.delay
        manners[place].lastEnd = now.nanoseconds
        if !delay.isNone, delay.basis == .end {
            manners[place].nextStart = now.advanced(by: delay.duration(random: random)).nanoseconds
        }
        holdOrRelease(index, at: now)
        return change
    }

    /// Hosts whose time has come may start hops again.
    mutating func wake(at now: MonotonicInstant) {
        while let host = wakeUps.next(dueAt: now) {
            holdOrRelease(Int(host), at: now)
            settle(Int(host))
        }
    }

    /// Puts a host into the heap or takes it out, as its times say.
    private mutating func holdOrRelease(_ index: Int, at now: MonotonicInstant) {
        guard hosts[index].manners != Link.none, !hosts[index].isRetired else {
            hosts[index].isHeldBack = hosts[index].isRetired
            return
        }
        let place = Int(hosts[index].manners)
        let host = UInt32(truncatingIfNeeded: index)
        let until = max(manners[place].nextStart, manners[place].snoozedUntil)
        if until > now.nanoseconds {
            wakeUps.set(host, to: MonotonicInstant(nanoseconds: until))
            hosts[index].isHeldBack = true
        } else {
            wakeUps.remove(host)
            manners[place].nextStart = 0
            manners[place].snoozedUntil = 0
            manners[place].circuit.waited()
            hosts[index].isHeldBack = manners[place].circuit.state == .probing
        }
    }
}
