import TrawlHTTP
import TrawlStore

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

    /// What is stored answers others.
    mutating func noteShared(_ digest: CacheDigest) {
        if !unshared.isEmpty { unshared[digest] = nil }
    }
}
