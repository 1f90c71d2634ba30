/// The lists of ``HostQueues``: hops of a host, and hosts in turns. Links are indices, so that lists need neither
/// references nor optionals.
extension HostQueues {
    enum Link {
        static let none = UInt32.max
    }

    /// A waiting hop: 24 bytes. `host` is `Link.none` while the node is free; `next` then links the free nodes.
    struct Node: Sendable {
        var hop: UInt64
        var previous: UInt32
        var next: UInt32
        var host: UInt32
        var priority: HopPriority
    }

    /// A host's list of hops, those of higher priority first: 32 bytes, as two of them share a cache line.
    struct Host: Sendable {
        var first = Link.none
        var last = Link.none
        var inProcess: UInt32 = 0
        /// Hops in process it may have, by all rules together; `UInt32.max` is no limit.
        var limit: UInt32
        var previousTurn = Link.none
        var nextTurn = Link.none
        /// Its place in `manners`.
        var manners = Link.none
        var turns = Turns.Name.none
        /// Whether none of its hops may start, whatever its limit: until a time, while a probe runs, for good.
        var isHeldBack = false
        var isRetired = false
    }

    /// Hosts one after the other; each host is in one such list at most.
    struct Turns: Sendable {
        enum Name: UInt8, Sendable { case none, ready, abandoned }

        let name: Name
        private(set) var first = Link.none
        private var last = Link.none

        init(_ name: Name) { self.name = name }

        @inline(__always)
        mutating func append(_ host: Int, in hosts: inout [Host]) {
            let link = UInt32(truncatingIfNeeded: host)
            hosts[host].turns = name
            hosts[host].previousTurn = last
            hosts[host].nextTurn = Link.none
            if last == Link.none { first = link } else { hosts[Int(last)].nextTurn = link }
            last = link
        }

        mutating func prepend(_ host: Int, in hosts: inout [Host]) {
            let link = UInt32(truncatingIfNeeded: host)
            hosts[host].turns = name
            hosts[host].previousTurn = Link.none
            hosts[host].nextTurn = first
            if first == Link.none { last = link } else { hosts[Int(first)].previousTurn = link }
            first = link
        }

        @inline(__always)
        mutating func remove(_ host: Int, in hosts: inout [Host]) {
            let previous = hosts[host].previousTurn
            let next = hosts[host].nextTurn
            hosts[host].turns = .none
            if previous == Link.none { first = next } else { hosts[Int(previous)].nextTurn = next }
            if next == Link.none { last = previous } else { hosts[Int(next)].previousTurn = previous }
        }
    }

    /// Nodes kept for reuse when nothing waits any more; a larger array is given back.
    private static let nodesKept = 65_536

    /// The place of a host, which is made if need be.
    @inline(__always)
    mutating func entry(of host: UInt32) -> Int {
        let index = Int(host)
        if hosts.count <= index { makeHosts(through: index) }
        return index
    }

    private mutating func makeHosts(through index: Int) {
        precondition(index < Int(Link.none), "hosts have small numbers")
        let limit = Self.effective(politeness.limitPerHost, politeness.delay)
        while hosts.count <= index { hosts.append(Host(limit: limit)) }
    }

    @inline(__always)
    func mayStart(_ host: Int) -> Bool {
        hosts[host].inProcess < hosts[host].limit && !hosts[host].isHeldBack
    }

    mutating func leaveProcess(_ host: Int) {
        precondition(host < hosts.count && hosts[host].inProcess > 0, "a host got back more hops than it gave")
        hosts[host].inProcess -= 1
        inProcessCount -= 1
    }

    /// Puts a host where a hop waits, and which is in no turns, at the end of those where it belongs, if any.
    @inline(__always)
    mutating func awaitTurn(_ host: Int) {
        if mayStart(host) {
            ready.append(host, in: &hosts)
        } else if hosts[host].isRetired {
            abandoned.append(host, in: &hosts)
        }
    }

    /// Puts a host into the turns where it belongs, at the end, or takes it out.
    mutating func settle(_ host: Int) {
        let waits = hosts[host].first != Link.none
        switch hosts[host].turns {
        case .none:
            if waits { awaitTurn(host) }
        case .ready:
            if !waits || !mayStart(host) {
                ready.remove(host, in: &hosts)
                if waits && hosts[host].isRetired { abandoned.append(host, in: &hosts) }
            }
        case .abandoned:
            if !waits || !hosts[host].isRetired {
                abandoned.remove(host, in: &hosts)
                if waits && mayStart(host) { ready.append(host, in: &hosts) }
            }
        }
    }

    // MARK: Waiting hops

    mutating func makeNode(_ hop: UInt64, host: UInt32, _ priority: HopPriority) -> UInt32 {
        count += 1
        let node = firstFreeNode
        let content = Node(hop: hop, previous: Link.none, next: Link.none, host: host, priority: priority)
        if node != Link.none {
            firstFreeNode = nodes[Int(node)].next
            nodes[Int(node)] = content
            return node
        }
        nodes.append(content)
        return UInt32(truncatingIfNeeded: nodes.count - 1)
    }

    @inline(__always)
    mutating func insert(_ node: UInt32, into host: Int, _ priority: HopPriority, front: Bool) {
        if priority != .normal || hosts[host].manners != Link.none && levels(of: host) != Link.none {
            insertByLevel(node, into: host, priority, front: front)
        } else {
            link(node, into: host, after: front ? Link.none : hosts[host].last)
        }
    }

    private mutating func link(_ node: UInt32, into host: Int, after previous: UInt32) {
        let next: UInt32
        if previous == Link.none {
            next = hosts[host].first
            hosts[host].first = node
        } else {
            next = nodes[Int(previous)].next
            nodes[Int(previous)].next = node
            nodes[Int(node)].previous = previous
        }
        if next == Link.none {
            hosts[host].last = node
        } else {
            nodes[Int(next)].previous = node
            nodes[Int(node)].next = next
        }
    }

    /// With the ends of the levels at hand, the place among hops of several priorities is found without looking at
    /// them.
    private mutating func insertByLevel(_ node: UInt32, into host: Int, _ priority: HopPriority, front: Bool) {
        let start = Int(makeLevels(host)) * HopPriority.count
        let own = start + Int(priority.rawValue)
        var previous = front ? Link.none : levelEnds[own]
        var above = own + 1
        while previous == Link.none && above < start + HopPriority.count {
            previous = levelEnds[above]
            above += 1
        }
        link(node, into: host, after: previous)
        if !front || levelEnds[own] == Link.none { levelEnds[own] = node }
    }

    /// The place in `levelEnds` of a host with manners; none as long as all that wait are of the middle.
    private func levels(of host: Int) -> UInt32 { manners[Int(hosts[host].manners)].levels }

    private mutating func makeLevels(_ host: Int) -> UInt32 {
        let place = mannersPlace(host)
        if manners[place].levels != Link.none { return manners[place].levels }
        let made: UInt32
        if let free = freeLevelEnds.popLast() {
            made = free
        } else {
            made = UInt32(truncatingIfNeeded: levelEnds.count / HopPriority.count)
            for _ in 0..<HopPriority.count { levelEnds.append(Link.none) }
        }
        manners[place].levels = made
        // All that wait so far are of the middle.
        levelEnds[Int(made) * HopPriority.count + Int(HopPriority.normal.rawValue)] = hosts[host].last
        return made
    }

    @inline(__always)
    mutating func take(_ node: UInt32, from host: Int) {
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
        if hosts[host].manners != Link.none, levels(of: host) != Link.none { leaveLevel(node, content, of: host) }
        nodes[Int(node)].host = Link.none
        nodes[Int(node)].next = firstFreeNode
        firstFreeNode = node
        count -= 1
        if count == 0 && nodes.count > Self.nodesKept {
            nodes = []
            firstFreeNode = Link.none
        }
    }

    private mutating func leaveLevel(_ node: UInt32, _ content: Node, of host: Int) {
        let place = Int(hosts[host].manners)
        let own = Int(manners[place].levels) * HopPriority.count + Int(content.priority.rawValue)
        if levelEnds[own] == node {
            let previous = content.previous
            let isOfLevel = previous != Link.none && nodes[Int(previous)].priority == content.priority
            levelEnds[own] = isOfLevel ? previous : Link.none
        }
        if hosts[host].first == Link.none {
            freeLevelEnds.append(manners[place].levels)
            manners[place].levels = Link.none
        }
    }
}
