import TrawlHTTP
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
            if found.failure != nil {
                // Whoever opens the store next tries again.
                marks.mark()
                pending.withLock { $0.isUnswept = true }
            }
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
    /// - Returns: How many files went, for which of the given there is nothing more to do here once this is committed,
    ///   and why one of those did not go, when it could not.
    func removeOrphans(
        in transaction: borrowing Transaction, among digests: [ContentDigest]
    ) throws(StoreError) -> (removed: Int, settled: [ContentDigest], failure: SystemError?) {
        var removed = 0
        var settled: [ContentDigest] = []
        var failure: SystemError?
        for digest in digests {
            let row = try digest.withBytes { (key) throws(StoreError) in
                try transaction.get(CacheSchema.blobs, key)
            }
            if row == nil {
                if try isCommitted(digest) { continue }
                let error = blobs.removal(of: digest)
                if error == 0 {
                    removed += 1
                } else if !BlobDirectory.isNoFile(error) {
                    failure = SystemError(errno: error, call: "unlink \(blobs.path)/\(digest.path)")
                }
            }
            settled.append(digest)
        }
        return (removed, settled, failure)
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
        // Whoever else has what was there before, and whatever others have stored since.
        let isFresh = environment.claimFreshFiles()
        let isAlone = environment.claimSolitude()
        guard blobs.wasThere, marks.adopt() || isFresh || isAlone && isNew else { return }
        sweep()
    }

    /// Looks for orphans when the files were made anew for who only reads.
    func sweepIfMadeAnew() {
        guard environment.claimFreshFiles() else { return }
        blobs.refresh()
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

    /// Removes files that no record refers to, some in each transaction, in the background.
    func sweep() {
        let number = pending.withLock { pending -> UInt64? in
            pending.isUnswept = true
            guard !pending.isSweeping, !pending.isClosed else { return nil }
            pending.isSweeping = true
            pending.sweeps += 1
            return pending.sweeps
        }
        guard let number else { return }
        marks.mark()
        // Also what this process has left when it made the files anew.
        _ = marks.adopt()
        // Nothing is due yet: what there is, the store thread sees first.
        sweep(BlobWalk(), number)
    }

    private func sweep(_ walk: BlobWalk, _ number: UInt64) {
        let failure = Guarded<SystemError?>(nil)
        write(.now) { [self] (transaction, _) throws(StoreError) in
            let found = try removeOrphans(in: transaction, among: walk.part)
            failure.withLock { $0 = found.failure }
            return .removed(found.removed)
        } then: { [self] outcome in
            // Otherwise the next to open the directory begins anew.
            guard case .removed = outcome else { return endSweep(number, isDone: false) }
            // Another one looks at everything itself.
            guard pending.withLock({ $0.sweeps == number }) else { return }
            var next = walk
            next.note(failure.withLock { $0 })
            if next.advance(in: blobs) { return sweep(next, number) }
            do throws(SystemError) {
                try finish(next)
                endSweep(number, isDone: true)
            } catch {
                endSweep(number, isDone: false)
            }
        }
    }

    /// Begins a sweep on the calling thread; one in the background goes no further.
    ///
    /// - Returns: Its number, for `endSweep`.
    func takeOverSweeping() -> UInt64 {
        pending.withLock { pending in
            pending.isSweeping = true
            pending.sweeps += 1
            return pending.sweeps
        }
    }

    /// Ends a sweep, unless another one has taken its place.
    ///
    /// - Parameter isDone: Whether it came to its end.
    func endSweep(_ number: UInt64, isDone: Bool) {
        pending.withLock { pending in
            guard pending.sweeps == number else { return }
            pending.isSweeping = false
            if isDone { pending.isUnswept = false }
        }
    }

    /// Waits for a sweep in the background, for a while: commands that come and go would never end one otherwise.
    func finishSweep() {
        let end = MonotonicClock.now().advanced(by: Self.sweepPatience)
        while MonotonicClock.now() < end {
            let writes = pending.withLock { $0.isSweeping ? $0.writes : nil }
            guard let writes else { return }
            writes.flush()
        }
    }

    /// How long who closes a store waits for a sweep.
    private static let sweepPatience = Duration.seconds(1)

    /// Removes what never got its name, once all bodies were looked at. Then nothing is left by those that were killed.
    ///
    /// - Throws: When a directory could not be read, or a file not be removed. The next to open the store tries again.
    func finish(_ walk: BlobWalk) throws(SystemError) {
        var walk = walk
        do throws(SystemError) { try blobs.sweepSpools() } catch { walk.note(error) }
        do throws(SystemError) { try FreshFile.sweep(directory) } catch { walk.note(error) }
        if let failure = walk.failure { throw failure }
        marks.swept()
    }
}
