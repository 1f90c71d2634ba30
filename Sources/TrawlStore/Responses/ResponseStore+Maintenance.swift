import Glibc
package import TrawlCache
package import TrawlHTTP
import TrawlPlatform

extension ResponseStore {
    /// Whether a store directory has a cache. Nothing is made or opened.
    ///
    /// - Throws: `unusable` when a file is in the place of one of the directories.
    package static func isThere(in directory: String) throws(StoreError) -> Bool {
        try CacheStore.isThere(in: directory + "/cache")
    }

    /// How many sessions have records.
    package var sessionCount: Int { cache.sessionsWithRecords().count }

    /// Removes all that is stored under a URL: how many responses.
    package func removeAll(under key: CacheKey) throws(StoreError) -> Int {
        try removed(cache.perform(.removeAll(CacheDigest(of: key))))
    }

    /// Removes what sessions stored, those of living coordinators too: how many responses.
    package func removeSessions(storedSince: WallTime?) throws(StoreError) -> Int {
        let since = storedSince.map { UInt64(max(0, $0.milliseconds)) }
        return try removed(cache.perform(.removeMatching(CacheFilter(storageClass: .anySession, storedSince: since))))
    }

    /// Removes everything: how many responses.
    package func removeAll() throws(StoreError) -> Int { try removed(cache.clear()) }

    /// How many are gone, for good once this is closed.
    private func removed(_ outcome: CacheOutcome) throws(StoreError) -> Int {
        cache.pending.withLock { $0.syncsAtClose = true }
        return try outcome.removedCount()
    }

    /// Removes the responses that are meant, in steps that keep nobody waiting for long: how many.
    package func remove(where isMeant: (StoredListing) -> Bool) throws(StoreError) -> Int {
        var count = 0
        var meant: [CacheUse] = []
        try forEach(failure: { $0 }) { (listing) throws(StoreError) in
            if isMeant(listing) { meant.append(listing.use) }
            if meant.count >= Self.removedAtOnce {
                count += try removed(cache.remove(meant))
                meant.removeAll(keepingCapacity: true)
            }
            return true
        }
        return count + (try removed(cache.remove(meant)))
    }

    /// Records removed in one transaction.
    private static let removedAtOnce = 1024

    /// Evicts down to the budget and removes what nobody needs: how many responses went.
    package func prune() throws(StoreError) -> Int { try cache.prune().removedCount() }

    /// Reads and checks everything, and removes what is damaged.
    package func verify() throws(StoreError) -> CacheVerification {
        var result = try cache.verify()
        // Records that are as they were written, and yet no responses.
        var senseless: [CacheUse] = []
        var position: UInt64 = 0
        while true {
            let page = try cache.list(after: position)
            for listing in page where StoredListing(listing) == nil { senseless.append(listing.use) }
            if !senseless.isEmpty { result.damagedRecords += try cache.remove(senseless).removedCount() }
            senseless.removeAll()
            guard page.count == 256, let last = page.last else { return result }
            position = last.use.sequence
        }
    }
}

extension CacheStore {
    /// Whether there is an environment in a directory.
    static func isThere(in directory: String) throws(StoreError) -> Bool {
        if access(directory + "/data.mdb", F_OK) == 0 { return true }
        if errno == ENOENT { return false }
        if errno == ENOTDIR { throw .unusable(path: directory, reason: "part of the path is no directory") }
        throw .from(SystemError(errno: errno, call: "access"))
    }

    /// Removes records: in one transaction, or in as many as a full disk has room for.
    func remove(_ uses: [CacheUse]) -> CacheOutcome {
        var rest = uses[...]
        var part = RemovalCursor()
        part.most = max(1, uses.count)
        var count = 0
        while !rest.isEmpty {
            let some = rest.prefix(part.most)
            let outcome = writeNow { [self] (transaction, effects) throws(StoreError) in
                var removed = 0
                for use in some where try tables.remove(use, in: transaction, &effects) { removed += 1 }
                return .removed(removed)
            }
            if outcome.isDiskFull, let smaller = smaller(part) {
                part = smaller
                continue
            }
            guard case .removed(let removed) = outcome else { return outcome }
            count += removed
            rest = rest.dropFirst(some.count)
            part.grow()
        }
        return .removed(count)
    }
}

extension CacheOutcome {
    /// How many records went.
    package func removedCount() throws(StoreError) -> Int {
        switch self {
        case .removed(let count): return count
        case .notDone(.failed(let error)): throw error
        case .stored, .notDone: return 0
        }
    }
}

extension CacheStatistics {
    /// Of a store that holds nothing.
    package static let empty = CacheStatistics()
}

extension CacheVerification {
    /// Of a store that holds nothing.
    package static let empty = CacheVerification()
}
