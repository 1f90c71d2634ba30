// TrawlFrontier decides which waiting hop may run next. It never opens a socket, reads a clock or sleeps: time and
// random numbers come in as arguments where a rule needs them.

/// Hops that wait for a worker, by host, with a limit of hops in process for each host.
///
/// Hosts that are ready take turns, one hop each, so a host with a million hops does not hold up one with a single hop.
/// Within a host the order is first in, first out. A host is *ready* when a hop waits and a place is free, *in process*
/// when hops run and no other may start, *exhausted* when it has neither. Every operation takes constant time.
///
/// A host is named by a small dense number, as ``OriginTable`` gives them out; memory grows with the largest in use.
package struct HostQueues: Sendable {
    /// Hops in process that one host may have; 0 is no limit.
    package let limitPerHost: Int
    /// Hops that wait.
    package private(set) var count = 0
    /// Hops that were handed out and have not come back.
    package private(set) var inProcessCount = 0

    private var nodes: [Node] = []
    private var firstFreeNode = Link.none
    private var hosts: [Host] = []
    private var firstReady = Link.none
    private var lastReady = Link.none

    /// Queues without hops.
    ///
    /// - Parameter limitPerHost: Hops in process that one host may have; 0 is no limit.
    package init(limitPerHost: Int = 6) {
        precondition(limitPerHost >= 0, "a limit is not negative")
        self.limitPerHost = limitPerHost
    }

    /// Whether no hop waits; hops may be in process all the same.
    package var isEmpty: Bool { count == 0 }

    /// Adds a hop to its host's queue.
    ///
    /// - Parameter front: Before all that wait there: for retries and redirects, which go on with a fetch.
    /// - Returns: Where the hop waits, for ``remove(_:at:)``; void once the hop is handed out.
    @discardableResult
    package mutating func enqueue(_ hop: UInt64, host: UInt32, front: Bool = false) -> WaitingPlace {
        let index = Int(host)
        while hosts.count <= index { hosts.append(Host()) }
        let node = makeNode(hop, host: host)
        insert(node, into: index, front: front)
        if !hosts[index].isReady && hasFreePlace(index) { appendReady(index) }
        return WaitingPlace(node: node)
    }

    /// The next hop that may run, which is in process from now on; `nil` when every waiting hop's host is at its limit.
    package mutating func next() -> ReadyHop? {
        guard firstReady != Link.none else { return nil }
        let index = Int(firstReady)
        removeReady(index)
        let node = hosts[index].first
        let hop = nodes[Int(node)].hop
        take(node, from: index)
        hosts[index].inProcess += 1
        inProcessCount += 1
        if hosts[index].first != Link.none && hasFreePlace(index) { appendReady(index) }
        return ReadyHop(hop: hop, host: UInt32(truncatingIfNeeded: index))
    }

    /// A hop that ``next()`` handed out could not be leased: it is the first of its host again, and its host is first.
    @discardableResult
    package mutating func putBack(_ ready: ReadyHop) -> WaitingPlace {
        let index = Int(ready.host)
        leaveProcess(index)
        let node = makeNode(ready.hop, host: ready.host)
        insert(node, into: index, front: true)
        if hosts[index].isReady { removeReady(index) }
        prependReady(index)
        return WaitingPlace(node: node)
    }

    /// A hop of this host ended, or will be queued again: its place is free.
    package mutating func returned(_ host: UInt32) {
        let index = Int(host)
        leaveProcess(index)
        if !hosts[index].isReady && hosts[index].first != Link.none { appendReady(index) }
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
        if hosts[index].first == Link.none && hosts[index].isReady { removeReady(index) }
        return true
    }

    /// What the host is doing.
    package func state(of host: UInt32) -> HostState {
        guard host < hosts.count else { return .exhausted }
        let entry = hosts[Int(host)]
        if entry.isReady { return .ready }
        return entry.inProcess > 0 ? .inProcess : .exhausted
    }

    /// Hops of this host that were handed out and have not come back.
    package func inProcessCount(of host: UInt32) -> Int {
        host < hosts.count ? Int(hosts[Int(host)].inProcess) : 0
    }
}

/// A hop that may run now.
package struct ReadyHop: Sendable, Hashable {
    /// The coordinator's number for the hop.
    package var hop: UInt64
    /// The host whose place it takes, to be given back with ``HostQueues/returned(_:)``.
    package var host: UInt32

    /// A hop in process of this host.
    package init(hop: UInt64, host: UInt32) {
        self.hop = hop
        self.host = host
    }
}

/// Where a hop waits. Four bytes, to be kept with the hop for its cancellation.
package struct WaitingPlace: Sendable, Hashable {
    fileprivate var node: UInt32
}

/// What a host is doing. Snoozed and retired come with crawl delay and `Retry-After`.
package enum HostState: Sendable, Hashable {
    /// A hop waits and a place is free.
    case ready
    /// Hops are in process and no other may start: none waits, or the limit is reached.
    case inProcess
    /// Nothing waits and nothing is in process.
    case exhausted
}

/// Index links, so that lists need neither references nor optionals.
private enum Link {
    static let none = UInt32.max
}

extension HostQueues {
    /// A waiting hop: 24 bytes. `host` is `Link.none` while the node is free; `next` then links the free nodes.
    private struct Node: Sendable {
        var hop: UInt64
        var previous: UInt32
        var next: UInt32
        var host: UInt32
    }

    private struct Host: Sendable {
        var first = Link.none
        var last = Link.none
        var inProcess: UInt32 = 0
        var previousReady = Link.none
        var nextReady = Link.none
        var isReady = false
    }

    /// Nodes kept for reuse when nothing waits any more; a larger array is given back.
    private static let nodesKept = 65_536

    private func hasFreePlace(_ host: Int) -> Bool {
        limitPerHost == 0 || Int(hosts[host].inProcess) < limitPerHost
    }

    private mutating func leaveProcess(_ host: Int) {
        precondition(host < hosts.count && hosts[host].inProcess > 0, "a host got back more hops than it gave")
        hosts[host].inProcess -= 1
        inProcessCount -= 1
    }

    // MARK: Waiting hops

    private mutating func makeNode(_ hop: UInt64, host: UInt32) -> UInt32 {
        count += 1
        let node = firstFreeNode
        let content = Node(hop: hop, previous: Link.none, next: Link.none, host: host)
        if node != Link.none {
            firstFreeNode = nodes[Int(node)].next
            nodes[Int(node)] = content
            return node
        }
        nodes.append(content)
        return UInt32(truncatingIfNeeded: nodes.count - 1)
    }

    private mutating func insert(_ node: UInt32, into host: Int, front: Bool) {
        if front {
            let first = hosts[host].first
            nodes[Int(node)].next = first
            if first == Link.none { hosts[host].last = node } else { nodes[Int(first)].previous = node }
            hosts[host].first = node
        } else {
            let last = hosts[host].last
            nodes[Int(node)].previous = last
            if last == Link.none { hosts[host].first = node } else { nodes[Int(last)].next = node }
            hosts[host].last = node
        }
    }

    private mutating func take(_ node: UInt32, from host: Int) {
        let content = nodes[Int(node)]
        if content.previous == Link.none {
            hosts[host].first = content.next
        } else {
            nodes[Int(content.previous)].next = content.next
        }
        if content.next == Link.none {
            hosts[host].last = content.previous
        } else {
            nodes[Int(content.next)].previous = content.previous
        }
        nodes[Int(node)].host = Link.none
        nodes[Int(node)].next = firstFreeNode
        firstFreeNode = node
        count -= 1
        if count == 0 && nodes.count > Self.nodesKept {
            nodes = []
            firstFreeNode = Link.none
        }
    }

    // MARK: Ready hosts

    private mutating func appendReady(_ host: Int) {
        let link = UInt32(truncatingIfNeeded: host)
        hosts[host].isReady = true
        hosts[host].previousReady = lastReady
        hosts[host].nextReady = Link.none
        if lastReady == Link.none { firstReady = link } else { hosts[Int(lastReady)].nextReady = link }
        lastReady = link
    }

    private mutating func prependReady(_ host: Int) {
        let link = UInt32(truncatingIfNeeded: host)
        hosts[host].isReady = true
        hosts[host].previousReady = Link.none
        hosts[host].nextReady = firstReady
        if firstReady == Link.none { lastReady = link } else { hosts[Int(firstReady)].previousReady = link }
        firstReady = link
    }

    private mutating func removeReady(_ host: Int) {
        let previous = hosts[host].previousReady
        let next = hosts[host].nextReady
        hosts[host].isReady = false
        if previous == Link.none { firstReady = next } else { hosts[Int(previous)].nextReady = next }
        if next == Link.none { lastReady = previous } else { hosts[Int(next)].previousReady = previous }
    }
}
