import TrawlPlatform

/// A record as a list shows it.
package struct CacheListing: Equatable, Sendable {
    /// Its sequence and the digest of its cache key.
    package let use: CacheUse
    /// The header, opaque here.
    package let header: [UInt8]
    /// Bytes of the body.
    package let bodyLength: UInt64
    /// When it was stored, in milliseconds since 1970.
    package let stored: UInt64
    /// How long it may stay.
    package let storageClass: StorageClass
}

/// What a cache store holds.
package struct CacheStatistics: Equatable, Sendable {
    /// Stored responses.
    package var records: UInt64 = 0
    /// Cache keys, variants of one counted once.
    package var keys: UInt64 = 0
    /// Records of sessions.
    package var sessionRecords: UInt64 = 0
    /// Bodies in files.
    package var blobs: UInt64 = 0
    /// Their bytes.
    package var blobBytes: UInt64 = 0
    /// Bytes of the tables' pages.
    package var tableBytes: UInt64 = 0
    /// Bytes it may take.
    package var budget: UInt64 = 0

    /// Bytes it takes, of the budget.
    package var bytes: UInt64 { tableBytes + blobBytes }
}

extension CacheStore {
    /// Bytes that are enough for the pages of some changes.
    private static let leastRoom: UInt64 = 1 << 20

    /// A part of the list of records, in the order of storing.
    ///
    /// - Parameters:
    ///   - after: The sequence of the last record already seen; 0 to begin.
    ///   - limit: The most records.
    package func list(after: UInt64, limit: Int = 256) throws(StoreError) -> [CacheListing] {
        var listings: [CacheListing] = []
        guard after < .max else { return [] }
        try environment.read { (snapshot) throws(StoreError) in
            listings = []
            try snapshot.scan(CacheSchema.records, from: after + 1) { sequence, row in
                guard listings.count < limit else { return false }
                guard let frame = RecordFrame(row, sequence: sequence) else { return true }
                listings.append(
                    CacheListing(
                        use: CacheUse(digest: frame.digest, sequence: sequence), header: [UInt8](frame.header),
                        bodyLength: frame.bodyLength, stored: frame.stored, storageClass: frame.storageClass))
                return true
            }
        }
        return listings
    }

    /// How much there is.
    package func statistics() throws(StoreError) -> CacheStatistics {
        try environment.read { (snapshot) throws(StoreError) in
            var statistics = CacheStatistics()
            statistics.records = try snapshot.statistics(CacheSchema.records).rows
            statistics.keys = try snapshot.statistics(CacheSchema.index).rows
            statistics.sessionRecords = try snapshot.statistics(CacheSchema.scoped).rows
            statistics.blobs = try snapshot.statistics(CacheSchema.blobs).rows
            statistics.tableBytes = try snapshot.usedPages * 4096
            statistics.budget = settings.budget
            if let row = try snapshot.get(CacheSchema.meta, CacheCounters.key) {
                statistics.blobBytes = CacheCounters(row)?.blobBytes ?? 0
            }
            return statistics
        }
    }

    /// Removes everything, and the files that nothing refers to, and gives the space of the tables back.
    package func clear() -> CacheOutcome {
        // Here, and not in the background as well.
        let number = takeOverSweeping()
        defer { endSweep(number, isDone: false) }
        var outcome = perform(.removeMatching(CacheFilter()))
        switch outcome {
        case .removed:
            // What is removed is removed, should the space not come back.
            try? environment.startOver()
        case .notDone where outcome.isDiskFull:
            // Without room for a single change the files go with all that is in them.
            let count = (try? statistics().records) ?? 0
            do throws(StoreError) { try environment.startOver() } catch { return .notDone(.failed(error)) }
            outcome = .removed(Int(clamping: count))
        case .notDone, .stored: return outcome
        }
        return sweepNow() ?? outcome
    }

    /// Evicts down to the budget, purges what dead sessions left, and removes files that nothing refers to: how many
    /// records went.
    package func prune() -> CacheOutcome {
        purgeDeadSessions()
        var outcome = perform(.evict)
        if outcome.isDiskFull {
            let bodiless = makeRoom()
            outcome = perform(.evict)
            _ = remove(bodiless)
        }
        if case .notDone = outcome { return outcome }
        return sweepNow() ?? outcome
    }

    /// Removes files where the disk has no room for the pages of one change: those that nothing refers to, and bodies
    /// of the oldest records.
    ///
    /// - Returns: The records whose bodies went; they are misses from now on.
    private func makeRoom() -> [CacheUse] {
        _ = sweepNow()
        let gone = Guarded<[CacheUse]>([])
        // Nothing is changed in the tables, so this needs no room. The lock keeps others from referring to what goes.
        _ = writeNow { [self] (transaction, _) throws(StoreError) in
            var freed: UInt64 = 0
            var uses: [CacheUse] = []
            try transaction.scan(CacheSchema.records, from: 0) { sequence, row in
                if let frame = RecordFrame(row, sequence: sequence), let digest = frame.blobDigest,
                    blobs.remove(digest)
                {
                    freed += frame.bodyLength
                    uses.append(CacheUse(digest: frame.digest, sequence: sequence))
                }
                return freed < Self.leastRoom
            }
            gone.withLock { $0 = uses }
            return .removed(0)
        }
        return gone.withLock { $0 }
    }

    /// Removes files that nothing refers to, on the calling thread: nothing, or why it could not go on.
    private func sweepNow() -> CacheOutcome? {
        let number = takeOverSweeping()
        var isDone = false
        defer { endSweep(number, isDone: isDone) }
        blobs.refresh()
        _ = marks.adopt()
        var walk = BlobWalk()
        while walk.advance(in: blobs) {
            let part = walk.part
            let failure = Guarded<SystemError?>(nil)
            let outcome = writeNow { [self] (transaction, _) throws(StoreError) in
                let found = try removeOrphans(in: transaction, among: part)
                failure.withLock { $0 = found.failure }
                return .removed(found.removed)
            }
            if case .notDone = outcome { return outcome }
            walk.note(failure.withLock { $0 })
        }
        do throws(SystemError) {
            try finish(walk)
        } catch {
            return CacheOutcome.notDone(.failed(.from(error)))
        }
        pending.withLock { $0.orphans.removeAll() }
        isDone = true
        return nil
    }
}
