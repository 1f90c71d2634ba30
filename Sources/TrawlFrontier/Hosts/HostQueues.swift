// TrawlFrontier decides what waits and what may run next: hops by host, fetches of a queue, attempts after a failure.
// It never opens a socket, reads a clock or sleeps: time and random numbers come in as arguments where a rule needs
// them.

package import TrawlHTTP

/// Hops that wait for a worker, by host, with what each host is spared.
///
/// Hosts that are ready take turns, one hop each, so a host with a million hops does not hold up one with a single hop.
/// Within a host the order is that of priority, then first in, first out. What a host is doing, ``HostState`` says.
///
/// A host is named by a small dense number, as ``OriginTable`` gives them out; memory grows with the largest in use.
/// Every operation takes constant time, but for hosts that are held back for a time: those stand in a heap.
package struct HostQueues: Sendable {
    /// The rules for hosts without their own.
    package let politeness: Politeness
    /// Hops that wait, those of retired hosts among them.
    package internal(set) var count = 0
    /// Hops that were handed out and have not come back.
    package internal(set) var inProcessCount = 0

    /// Whether `politeness` has a delay, at hand.
    private let hasDelay: Bool
    var nodes: [Node] = []
    var firstFreeNode = Link.none
    var hosts: [Host] = []
    /// Hosts whose turn it is, and retired hosts where hops wait.
    var ready = Turns(.ready)
    var abandoned = Turns(.abandoned)
    /// What is kept of hosts that are, or were, held back, have rules of their own, or hops of several priorities.
    var manners: [Manners] = []
    var freeManners: [UInt32] = []
    /// For hosts where hops of several priorities wait: the last node of each, ``HopPriority/count`` a host.
    var levelEnds: [UInt32] = []
    var freeLevelEnds: [UInt32] = []
    /// Hosts that are held back until a time.
    var wakeUps = WakeUpHeap()

    /// Queues without hops.
    package init(_ politeness: Politeness = Politeness()) {
        self.politeness = politeness
        hasDelay = !politeness.delay.isNone
    }

    /// Whether no hop waits; hops may be in process all the same.
    package var isEmpty: Bool { count == 0 }

    /// When ``next(at:random:)`` may have more to give than now, if nothing else happens; nil is never.
    package var nextWakeUp: MonotonicInstant? {
        wakeUps.count == 0 ? nil : MonotonicInstant(nanoseconds: wakeUps.earliest)
    }

    /// Adds a hop to its host's queue.
    ///
    /// - Parameters:
    ///   - priority: Before those of lower ones that wait for this host; other hosts are not concerned.
    ///   - front: Before all of its priority: for retries and redirects, which go on with a fetch.
    /// - Returns: Where the hop waits, for ``remove(_:at:)``; void once the hop is handed out.
    @discardableResult
    package mutating func enqueue(
        _ hop: UInt64, host: UInt32, priority: HopPriority = .normal, front: Bool = false
    ) -> WaitingPlace {
        let index = entry(of: host)
        let node = makeNode(hop, host: host, priority)
        insert(node, into: index, priority, front: front)
        if hosts[index].turns == .none { awaitTurn(index) }
        return WaitingPlace(node: node)
    }

    /// The next hop that may run, which is in process from now on; nil when there is none now.
    ///
    /// - Parameter random: From 0 to 1, for delays with a spread.
    package mutating func next(at now: MonotonicInstant, random: Double = 0) -> ReadyHop? {
        if wakeUps.earliest <= now.nanoseconds { wake(at: now) }
        guard ready.first != Link.none else { return nil }
        let index = Int(ready.first)
        ready.remove(index, in: &hosts)
        let node = hosts[index].first
        var hop = ReadyHop(
            hop: nodes[Int(node)].hop, host: UInt32(truncatingIfNeeded: index), priority: nodes[Int(node)].priority)
        take(node, from: index)
        hosts[index].inProcess += 1
        inProcessCount += 1
        if hosts[index].manners != Link.none || hasDelay { hop.isProbe = started(index, now, random) }
        if hosts[index].first != Link.none && mayStart(index) { ready.append(index, in: &hosts) }
        return hop
    }

    /// A hop that ``next(at:random:)`` handed out could not be leased: it is the first of its priority again, and its
    /// host is first. For the host it is as if the hop had not been handed out.
    @discardableResult
    package mutating func putBack(_ hop: ReadyHop) -> WaitingPlace {
        let index = Int(hop.host)
        leaveProcess(index)
        if hosts[index].manners != Link.none { didNotStart(index, wasProbe: hop.isProbe) }
        let node = makeNode(hop.hop, host: hop.host, hop.priority)
        insert(node, into: index, hop.priority, front: true)
        if hosts[index].turns == .ready { ready.remove(index, in: &hosts) }
        if mayStart(index) { ready.prepend(index, in: &hosts) }
        settle(index)
        return WaitingPlace(node: node)
    }

    /// A hop of this host ended, or will be queued again: its place is free.
    ///
    /// - Parameters:
    ///   - outcome: What its end says about the host.
    ///   - wasProbe: What ``ReadyHop/isProbe`` was.
    ///   - random: From 0 to 1, for the wait after a failure.
    /// - Returns: What became of the host, for logs and counters.
    @discardableResult
    package mutating func returned(
        _ host: UInt32, at now: MonotonicInstant, _ outcome: HostOutcome = .unknown, wasProbe: Bool = false,
        random: Double = 1
    ) -> HostChange {
        let index = Int(host)
        leaveProcess(index)
        var change = HostChange.none
        if hosts[index].manners != Link.none || outcome == .failed || hasDelay {
            change = ended(index, now, outcome, wasProbe, random)
            settle(index)
        } else if hosts[index].turns == .none, hosts[index].first != Link.none {
            awaitTurn(index)
        }
        return change
    }

    /// Takes a waiting hop out, because it was cancelled.
    ///
    /// - Parameter place: What the hop's latest `enqueue` or `putBack` returned.
    /// - Returns: Whether the hop was waiting there; `false` when it was handed out before.
    @discardableResult
    package mutating func remove(_ hop: UInt64, at place: WaitingPlace) -> Bool {
        guard place.node < nodes.count else { return false }
        let node = nodes[Int(place.node)]
        guard node.hop == hop, node.host != Link.none else { return false }
        let index = Int(node.host)
        take(place.node, from: index)
        if hosts[index].first == Link.none { settle(index) }
        return true
    }

    /// What the host is doing.
    package func state(of host: UInt32) -> HostState {
        guard host < hosts.count else { return .exhausted }
        let entry = hosts[Int(host)]
        if entry.isRetired { return .retired }
        if entry.turns == .ready { return .ready }
        if entry.isHeldBack, let time = wakeUps.time(of: host) { return .snoozed(until: time) }
        return entry.inProcess > 0 ? .inProcess : .exhausted
    }

    /// Hops in process that the host may have, by all rules together; `UInt32.max` is no limit.
    package func limit(of host: UInt32) -> UInt32 {
        host < hosts.count ? hosts[Int(host)].limit : Self.effective(politeness.limitPerHost, politeness.delay)
    }
}

/// A hop that may run now.
package struct ReadyHop: Sendable, Hashable {
    /// The coordinator's number for the hop.
    package var hop: UInt64
    /// The host whose place it takes, to be given back with ``HostQueues/returned(_:at:_:wasProbe:random:)``.
    package var host: UInt32
    /// What it was queued with.
    package var priority: HopPriority
    /// Whether it is the one hop that finds out whether a host that failed answers again.
    package var isProbe: Bool

    /// A hop in process of this host.
    package init(hop: UInt64, host: UInt32, priority: HopPriority = .normal, isProbe: Bool = false) {
        self.hop = hop
        self.host = host
        self.priority = priority
        self.isProbe = isProbe
    }
}

/// Where a hop waits. Four bytes, to be kept with the hop for its cancellation.
package struct WaitingPlace: Sendable, Hashable {
    var node: UInt32
}

/// What a host is doing.
package enum HostState: Sendable, Hashable {
    /// A hop waits and may start.
    case ready
    /// Hops are in process and no other may start: none waits, or the limit is reached, or the one that runs is a
    /// probe.
    case inProcess
    /// No hop may start before that time, and then only if nothing else is in the way.
    case snoozed(until: MonotonicInstant)
    /// It was given up; hops that wait come out by ``HostQueues/nextAbandoned()``.
    case retired
    /// Nothing waits and nothing is in process.
    case exhausted
}

/// What became of a host at the end of a hop.
package enum HostChange: Sendable, Hashable {
    /// Nothing out of the ordinary.
    case none
    /// It failed too often, and is left alone until then.
    case opened(until: MonotonicInstant)
    /// It answers again.
    case closed
    /// It is given up.
    case retired
}
