import TrawlHTTP
import TrawlStore
import TrawlSupervision

/// Which fetches identical ones may wait for, and for which nobody waits.
///
/// Who leads another group than the first of its URL stands under a digest behind that of its cache key; how many do is
/// known at any time, since mostly none does, and nobody has to look there then.
struct CoalescingTable {
    /// Keys remembered whose responses others could not use, and for how long.
    private static let mostUnshared = 4096
    private static let unsharedTime = Duration.seconds(10)

    private var leaders = LeaderTable()
    private var otherGroups = 0
    /// Until when nobody waits for fetches that others waited for in vain.
    private var unshared: [CacheDigest: MonotonicInstant] = [:]
    /// Leases whose responses others wait for, the one first whose head has to be there first.
    private var waits: [HeadWait] = []

    /// How long others wait for the head of one response.
    struct HeadWait {
        let leader: FetchKey
        let lease: LeaseID
        var end: MonotonicInstant
    }

    /// Whether nobody leads.
    var isEmpty: Bool { leaders.count == 0 }

    /// Whether there is a leader under a digest that is not that of its key.
    var hasOtherGroups: Bool { otherGroups > 0 }

    /// The fetch that leads those of a digest.
    subscript(digest: CacheDigest) -> FetchKey? { leaders[digest] }

    /// Lets a fetch lead.
    ///
    /// - Parameter isOtherGroup: Whether the digest is not that of its key.
    mutating func lead(_ fetch: FetchKey, under digest: CacheDigest, isOtherGroup: Bool) {
        leaders.set(fetch, for: digest)
        if isOtherGroup { otherGroups += 1 }
    }

    /// Whoever leads those of a digest leads no more.
    mutating func remove(_ digest: CacheDigest, isOtherGroup: Bool) {
        leaders.remove(digest)
        if isOtherGroup { otherGroups -= 1 }
    }

    /// Whether fetches were lately waited for in vain.
    func isUnshared(_ digest: CacheDigest, at now: MonotonicInstant) -> Bool {
        guard !unshared.isEmpty, let end = unshared[digest] else { return false }
        return now < end
    }

    /// A fetch was waited for in vain: the next ones are not, for a while.
    mutating func noteUnshared(_ digest: CacheDigest, at now: MonotonicInstant) {
        if unshared.count >= Self.mostUnshared { unshared.removeAll() }
        unshared[digest] = now.advanced(by: Self.unsharedTime)
    }

    /// Others wait for what a lease brings.
    ///
    /// - Parameter end: When its head has to be there; never earlier than that of a wait which began before.
    mutating func wait(for lease: LeaseID, of leader: FetchKey, until end: MonotonicInstant) {
        waits.append(HeadWait(leader: leader, lease: lease, end: end))
    }

    /// The waits that are over, whatever became of their leases; they are told once.
    mutating func takeOverdue(at now: MonotonicInstant) -> ArraySlice<HeadWait> {
        let overdue = waits.prefix { $0.end <= now }
        if !overdue.isEmpty { waits.removeFirst(overdue.count) }
        return overdue
    }

    /// Time that passed counts for no wait.
    mutating func postpone(by pause: Duration) {
        for place in waits.indices { waits[place].end = waits[place].end.advanced(by: pause) }
    }

    /// What is stored answers others.
    mutating func noteShared(_ digest: CacheDigest) {
        if !unshared.isEmpty { unshared[digest] = nil }
    }
}
