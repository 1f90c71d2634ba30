/// Workers ordered by how many leases they hold. Grants and ends take constant time; ``remove`` is for a worker that
/// leaves.
///
/// One linked list of workers for each number of leases. Within a list the worker that came first is chosen first, so
/// equals take turns.
struct LoadBuckets: Sendable {
    private struct Links: Sendable {
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private var links: [Links]
    private var heads: [Int32]
    private var tails: [Int32]
    private var count = 0
    /// No list below this one has a member.
    private var lowest = 0

    init(workers: Int, maximumLoad: Int) {
        links = Array(repeating: Links(), count: workers)
        heads = Array(repeating: -1, count: maximumLoad + 1)
        tails = heads
    }

    /// The first worker of those with the fewest leases.
    var least: (worker: Int, load: Int)? {
        count > 0 ? (Int(heads[lowest]), lowest) : nil
    }

    mutating func insert(_ worker: Int, load: Int) {
        let tail = tails[load]
        links[worker] = Links(previous: tail, next: -1)
        if tail < 0 {
            heads[load] = Int32(truncatingIfNeeded: worker)
        } else {
            links[Int(tail)].next = Int32(truncatingIfNeeded: worker)
        }
        tails[load] = Int32(truncatingIfNeeded: worker)
        if count == 0 || load < lowest { lowest = load }
        count += 1
    }

    mutating func remove(_ worker: Int, load: Int) {
        unlink(worker, load: load)
        count -= 1
        while count > 0 && heads[lowest] < 0 { lowest += 1 }
    }

    /// Moves a worker up or down by one lease.
    mutating func move(_ worker: Int, from old: Int, to new: Int) {
        unlink(worker, load: old)
        count -= 1
        insert(worker, load: new)
        // Only this worker's old list can have become empty, and the worker itself is one step above it.
        if heads[lowest] < 0 { lowest += 1 }
    }

    private mutating func unlink(_ worker: Int, load: Int) {
        let link = links[worker]
        if link.previous < 0 {
            heads[load] = link.next
        } else {
            links[Int(link.previous)].next = link.next
        }
        if link.next < 0 {
            tails[load] = link.previous
        } else {
            links[Int(link.next)].previous = link.previous
        }
    }
}
