import TrawlPlatform

/// Files of blobs that no record refers to: those that lost their last record, and those that a process left which was
/// killed.
extension CacheStore {
    /// A body that has its name but no record is as good as an orphan.
    func settleFile(of record: NewRecord, _ outcome: CacheOutcome) {
        guard case .blob(let blob) = record.body, case .notDone = outcome else { return }
        pending.withLock { pending in
            _ = pending.orphans.insert(blob.reference.digest)
        }
        collect()
    }

    /// Removes the files of blobs that lost their last record, in a transaction of their own.
    ///
    /// Not in the one that removed the record: were that not committed, the record would be without its body. The
    /// writer lock keeps others from referring to a blob while its file goes.
    func collect() {
        let isDue = pending.withLock { pending in
            guard !pending.orphans.isEmpty, !pending.isCollecting, !pending.isClosed else { return false }
            pending.isCollecting = true
            return true
        }
        guard isDue else { return }
        let digests = pending.withLock { Array($0.orphans.prefix(4096)) }
        let settled = Guarded<[ContentDigest]>([])
        write(.soon) { [self] (transaction, _) throws(StoreError) in
            let found = try removeOrphans(in: transaction, among: digests)
            settled.withLock { $0 = found.settled }
            return .removed(found.removed)
        } then: { [self] outcome in
            var isOver = true
            if case .removed = outcome {
                let digests = settled.withLock { $0 }
                isOver = digests.isEmpty
                pending.withLock { pending in
                    for digest in digests { pending.orphans.remove(digest) }
                }
            }
            pending.withLock { $0.isCollecting = false }
            if !isOver { collect() }
        }
    }

    /// Removes the files among the given that no row refers to.
    ///
    /// A row that this very transaction took away, for another change of its group, is still there until that is
    /// committed; its file stays, for the next time.
    ///
    /// - Returns: How many files went, and for which of the given there is nothing more to do once this is committed.
    private func removeOrphans(
        in transaction: borrowing Transaction, among digests: [ContentDigest]
    ) throws(StoreError) -> (removed: Int, settled: [ContentDigest]) {
        var removed = 0
        var settled: [ContentDigest] = []
        for digest in digests {
            let row = try digest.withBytes { (key) throws(StoreError) in
                try transaction.get(CacheSchema.blobs, key)
            }
            if row == nil {
                if try isCommitted(digest) { continue }
                if blobs.remove(digest) { removed += 1 }
            }
            settled.append(digest)
        }
        return (removed, settled)
    }

    /// Whether a row of what is committed refers to a blob.
    private func isCommitted(_ digest: ContentDigest) throws(StoreError) -> Bool {
        try environment.read { (snapshot) throws(StoreError) in
            try digest.withBytes { (key) throws(StoreError) in try snapshot.get(CacheSchema.blobs, key) } != nil
        }
    }

    // MARK: - Sweeping

    /// Looks for orphans when one who stored there did not close it in order, or all records are gone.
    func sweepIfNeeded() {
        let generation = environment.generation
        pending.withLock { $0.generation = generation }
        let isAlone = environment.claimSolitude()
        guard blobs.wasThere, marks.adopt() || isAlone && isNew else { return }
        sweep()
    }

    /// Whether nothing was ever stored in this environment: it is new, or was made anew.
    private var isNew: Bool {
        do throws(StoreError) {
            return try environment.read { (snapshot) throws(StoreError) in
                try snapshot.get(CacheSchema.meta, CacheCounters.key) == nil
            }
        } catch {
            return false
        }
    }

    /// Removes files that no record refers to, one directory in each transaction, in the background.
    func sweep() {
        let isDue = pending.withLock { pending in
            defer { pending.isSweeping = true }
            return !pending.isSweeping && !pending.isClosed
        }
        guard isDue else { return }
        marks.mark()
        sweep(from: 0)
    }

    private func sweep(from byte: UInt8) {
        write(.soon) { [self] (transaction, _) throws(StoreError) in
            try sweepDirectory(byte, in: transaction)
        } then: { [self] outcome in
            // Otherwise the next to open the directory goes on.
            guard case .removed = outcome else { return }
            if byte < .max { return sweep(from: byte + 1) }
            sweepParts()
            pending.withLock { $0.isSweeping = false }
        }
    }

    /// After all directories.
    func sweepParts() {
        blobs.sweepSpools()
        FreshFile.sweep(directory)
        marks.swept()
    }

    /// Removes the blobs of one directory that no record refers to.
    func sweepDirectory(
        _ byte: UInt8, in transaction: borrowing Transaction
    ) throws(StoreError) -> CacheOutcome {
        .removed(try removeOrphans(in: transaction, among: blobs.digests(startingWith: byte)).removed)
    }
}
