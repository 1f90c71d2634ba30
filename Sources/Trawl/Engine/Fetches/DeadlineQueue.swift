import TrawlHTTP

/// Which fetches must end by when: a binary heap of deadlines.
///
/// Entries that mean nothing any more, of fetches that ended earlier or have another deadline, are dropped when they come
/// up, or all at once when they are the most; so the queue stays in proportion to the fetches alive however long their
/// limits are, and however often they change.
struct DeadlineQueue: Sendable {
    struct Entry: Sendable, Hashable {
        let deadline: MonotonicInstant
        let fetch: FetchKey
    }

    private var heap: [Entry] = []
    /// With fewer entries it is not looked again which are needed: most were, the last time.
    private var leastToLookAt = 0

    /// The earliest deadline, possibly of a fetch that has ended.
    var earliest: MonotonicInstant? { heap.first?.deadline }

    /// How many entries are kept.
    var count: Int { heap.count }

    mutating func insert(_ fetch: FetchKey, deadline: MonotonicInstant) {
        heap.append(Entry(deadline: deadline, fetch: fetch))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].deadline <= heap[child].deadline { break }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    /// Moves all deadlines by as much.
    mutating func postpone(by pause: Duration) {
        // The order stays, but for those at the clock's end, which never come up.
        heap = heap.map { Entry(deadline: $0.deadline.advanced(by: pause), fetch: $0.fetch) }
    }

    /// Removes and returns the next entry that is due.
    mutating func next(dueAt now: MonotonicInstant) -> FetchKey? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink(from: 0)
        }
        return first.fetch
    }

    /// Drops entries that are not needed, and all but one of those that are the same, when there are many more than
    /// fetches alive.
    mutating func compact(living: Int, isNeeded: (Entry) -> Bool) {
        guard heap.count > max(2 * living + 1024, leastToLookAt) else { return }
        var kept: Set<Entry> = []
        heap.removeAll { !isNeeded($0) || !kept.insert($0).inserted }
        leastToLookAt = 2 * heap.count
        if heap.count > 1 {
            for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(from: index) }
        }
    }

    private mutating func sink(from index: Int) {
        var parent = index
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].deadline < heap[smallest].deadline {
                smallest = child
            }
            if smallest == parent { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
