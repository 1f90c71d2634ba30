/// What ``QueueMachine`` keeps of each fetch, in lists whose links are indices.
extension QueueMachine {
    enum Link {
        static let none = UInt32.max
    }

    /// Where a fetch is in its life.
    enum State: Sendable {
        /// Waits for fetches it depends on, or to be resumed.
        case blocked
        /// Its sizing request may start.
        case waitsForSizing
        /// Its sizing request runs; and that after the fetch was cancelled, or forgotten by a reset.
        case sizing, cancellingSizing, forgottenSizing
        /// It may start.
        case waits
        /// It runs; and that after it was cancelled, or forgotten by a reset.
        case running, cancelling, forgotten
        /// It was started and is suspended; and resumed, it waits for its turn again.
        case parked, waitsToGoOn
        /// It is about to be told as failed, because what it depended on failed.
        case ending
        /// The place is for another fetch.
        case free
    }

    /// A fetch: 28 bytes.
    struct Entry: Sendable {
        var generation: UInt32 = 0
        /// Links of the line where it stands; `next` also of the free places.
        var previous = Link.none
        var next = Link.none
        /// Fetches it waits for.
        var blockers: UInt32 = 0
        /// The first of those that wait for it.
        var firstEdge = Link.none
        var state = State.free
        var priority = HopPriority.normal
        var needsSizing = false
        /// Whether its caller suspended it.
        var isSuspended = false
        /// Whether it, or its sizing request, counts for the width.
        var hasPlace = false
        /// Whether it was cancelled with all others, so that its end is no reason to cancel any.
        var isPartOfCancelling = false
    }

    /// One fetch waits for another.
    struct Edge: Sendable {
        var dependent: UInt32
        var generation: UInt32
        var next: UInt32
        var needsSuccess: Bool
    }

    /// Fetches one after the other.
    struct Line: Sendable {
        var first = Link.none
        var last = Link.none
    }

    /// Actions, first in, first out.
    struct ActionLine: Sendable {
        private var actions: [Action] = []
        private var head = 0

        var isEmpty: Bool { head == actions.count }

        mutating func append(_ action: Action) { actions.append(action) }

        mutating func popFirst() -> Action? {
            guard head < actions.count else { return nil }
            let action = actions[head]
            head += 1
            if head == actions.count {
                actions.removeAll(keepingCapacity: actions.count <= 1024)
                head = 0
            }
            return action
        }

        mutating func removeAll(where isUnwanted: (Action) -> Bool) {
            actions.removeFirst(head)
            head = 0
            actions.removeAll(where: isUnwanted)
        }
    }

    // MARK: Names and places

    /// The fetches that have still to end, in no certain order.
    package var living: some Sequence<FetchID> {
        entries.indices.lazy.filter { isLiving($0) }.map { name($0) }
    }

    func name(_ index: Int) -> FetchID {
        FetchID(index: UInt32(truncatingIfNeeded: index), generation: entries[index].generation)
    }

    func find(_ fetch: FetchID) -> Int? {
        let index = Int(fetch.index)
        guard index < entries.count, entries[index].generation == fetch.generation else { return nil }
        return index
    }

    /// Whether the fetch has still to end.
    func isLiving(_ index: Int) -> Bool {
        switch entries[index].state {
        case .blocked, .waitsForSizing, .waits, .sizing, .running, .parked, .waitsToGoOn, .cancelling,
            .cancellingSizing:
            true
        case .forgotten, .forgottenSizing, .ending, .free: false
        }
    }

    mutating func makeEntry(_ priority: HopPriority) -> Int {
        let index: Int
        if firstFree == Link.none {
            index = entries.count
            entries.append(Entry(generation: firstGeneration))
        } else {
            index = Int(firstFree)
            firstFree = entries[index].next
            entries[index] = Entry(generation: entries[index].generation)
        }
        entries[index].state = .blocked
        entries[index].priority = priority
        usedCount += 1
        return index
    }

    mutating func free(_ index: Int) {
        entries[index].generation &+= 1
        entries[index].state = .free
        entries[index].next = firstFree
        firstFree = UInt32(truncatingIfNeeded: index)
        usedCount -= 1
    }

    /// Gives the memory of many places back once none is used. Names of the past stay what they are: no new one equals
    /// them.
    mutating func giveBackPlaces() {
        guard usedCount == 0, entries.count > Self.mostKept else { return }
        firstGeneration = entries.lazy.map(\.generation).max() ?? firstGeneration
        (entries, firstFree) = ([], Link.none)
        (edges, firstFreeEdge) = ([], Link.none)
    }

    /// Places that are kept for later ones.
    private static let mostKept = 1024

    // MARK: Lines

    /// That of the sizing requests, which is the last one: the last that is not empty is next.
    static let sizingLine = 2 * HopPriority.count

    /// The line a fetch stands in: one for each priority, and behind each, and so before it, one of those that go on.
    func line(of index: Int) -> Int {
        let level = 2 * Int(entries[index].priority.rawValue)
        return switch entries[index].state {
        case .waitsForSizing: Self.sizingLine
        case .waitsToGoOn: level + 1
        case .waits, .blocked, .sizing, .cancellingSizing, .forgottenSizing, .running, .parked, .cancelling, .forgotten,
            .ending, .free:
            level
        }
    }

    mutating func append(_ index: Int) {
        let level = line(of: index)
        let last = ready[level].last
        let link = UInt32(truncatingIfNeeded: index)
        entries[index].previous = last
        entries[index].next = Link.none
        if last == Link.none { ready[level].first = link } else { entries[Int(last)].next = link }
        ready[level].last = link
    }

    mutating func remove(_ index: Int) {
        let level = line(of: index)
        let previous = entries[index].previous
        let next = entries[index].next
        if previous == Link.none { ready[level].first = next } else { entries[Int(previous)].next = next }
        if next == Link.none { ready[level].last = previous } else { entries[Int(next)].previous = previous }
    }

    // MARK: Dependencies

    mutating func addEdge(from other: Int, to dependent: Int, _ needsSuccess: Bool) {
        let edge = Edge(
            dependent: UInt32(truncatingIfNeeded: dependent), generation: entries[dependent].generation,
            next: entries[other].firstEdge, needsSuccess: needsSuccess)
        if firstFreeEdge == Link.none {
            entries[other].firstEdge = UInt32(truncatingIfNeeded: edges.count)
            edges.append(edge)
        } else {
            entries[other].firstEdge = firstFreeEdge
            firstFreeEdge = edges[Int(firstFreeEdge)].next
            edges[Int(entries[other].firstEdge)] = edge
        }
        entries[dependent].blockers += 1
    }

    /// What waits for a fetch, in the order it was added; it waits no longer.
    mutating func takeEdges(of index: Int) -> [Edge] {
        var taken: [Edge] = []
        var edge = entries[index].firstEdge
        entries[index].firstEdge = Link.none
        while edge != Link.none {
            let content = edges[Int(edge)]
            taken.append(content)
            edges[Int(edge)].next = firstFreeEdge
            firstFreeEdge = edge
            edge = content.next
        }
        return taken.reversed()
    }
}
