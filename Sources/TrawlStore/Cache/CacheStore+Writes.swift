import TrawlPlatform

/// What one change came to, set on the store thread and read there after the commit.
///
/// `@unchecked Sendable`: the work and its completion run on the same thread, one after the other.
private final class WriteRun: @unchecked Sendable {
    var outcome = CacheOutcome.removed(0)
    var effects = CacheTables.Effects()
    /// Where a long change goes on.
    var cursor = RemovalCursor()
}

extension CacheStore {
    /// What a change does inside its transaction; it may run more than once.
    typealias Work =
        @Sendable (
            borrowing Transaction, inout CacheTables.Effects
        ) throws(StoreError) -> CacheOutcome

    /// Has a change made on the store thread, together with others.
    ///
    /// - Parameters:
    ///   - urgency: `soon` waits up to 2 ms for others to share the transaction with.
    ///   - then: Called once: after the commit on the store thread, or at once on the caller's when the change is refused.
    package func submit(
        _ change: CacheWrite, _ urgency: GroupedWrites.Urgency = .now,
        then: @escaping @Sendable (CacheOutcome) -> Void
    ) {
        if change.isLong {
            // Until its last part is done the store is not closed.
            pending.withLock { $0.longChanges += 1 }
            return submitPart(of: change, urgency, from: RemovalCursor(), done: 0) { [self] outcome in
                pending.withLock { $0.longChanges -= 1 }
                then(outcome)
            }
        }
        write(urgency, insists: change.insists) { [self] (transaction, effects) throws(StoreError) in
            try apply(change, in: transaction, &effects)
        } then: { [self] outcome in
            if case .append(let record) = change { settleFile(of: record, outcome) }
            then(outcome)
        }
    }

    /// Makes a change now, on the calling thread, which waits for other writers.
    package func perform(_ change: CacheWrite) -> CacheOutcome {
        if change.isLong { return performInParts(change) }
        let outcome = writeNow { [self] (transaction, effects) throws(StoreError) in
            try apply(change, in: transaction, &effects)
        }
        if case .append(let record) = change { settleFile(of: record, outcome) }
        return outcome
    }

    /// Makes a long change, one part after the other; others write between them.
    private func submitPart(
        of change: CacheWrite, _ urgency: GroupedWrites.Urgency, from start: RemovalCursor, done: Int,
        _ then: @escaping @Sendable (CacheOutcome) -> Void
    ) {
        let run = WriteRun()
        marks.mark()
        write(urgency, insists: change.insists) { [self] (transaction, effects) throws(StoreError) in
            run.cursor = start
            return .removed(try makePart(of: change, &run.cursor, in: transaction, &effects))
        } then: { [self] outcome in
            if outcome.isDiskFull, let smaller = start.smaller {
                return submitPart(of: change, urgency, from: smaller, done: done, then)
            }
            guard case .removed(let count) = outcome else { return then(outcome) }
            if run.cursor.isDone { return then(.removed(done + count)) }
            run.cursor.grow()
            submitPart(of: change, urgency, from: run.cursor, done: done + count, then)
        }
    }

    private func performInParts(_ change: CacheWrite) -> CacheOutcome {
        let run = WriteRun()
        var removed = 0
        marks.mark()
        while !run.cursor.isDone {
            let start = run.cursor
            let outcome = writeNow { [self] (transaction, effects) throws(StoreError) in
                run.cursor = start
                return .removed(try makePart(of: change, &run.cursor, in: transaction, &effects))
            }
            if outcome.isDiskFull, let smaller = start.smaller {
                run.cursor = smaller
                continue
            }
            guard case .removed(let count) = outcome else { return outcome }
            removed += count
            run.cursor.grow()
        }
        return .removed(removed)
    }

    private func makePart(
        of change: CacheWrite, _ cursor: inout RemovalCursor, in transaction: borrowing Transaction,
        _ effects: inout CacheTables.Effects
    ) throws(StoreError) -> Int {
        switch change {
        case .removeMatching(let filter):
            return try tables.removeMatching(filter, &cursor, in: transaction, &effects)
        case .evict:
            return try tables.evictSome(&cursor, in: transaction, &effects)
        case .append, .replaceHeader, .remove, .removeAll:
            cursor.isDone = true
            return 0
        }
    }

    /// Runs `body` while no process is in the middle of a write to one of the stores, or did not come to its end in time.
    ///
    /// For who is about to stop other processes: others would wait for one that stops while it writes.
    package static func betweenWrites(of stores: ArraySlice<CacheStore>, patience: Duration, _ body: () -> Void) {
        guard let first = stores.first else { return body() }
        first.environment.betweenWrites(patience: patience) {
            betweenWrites(of: stores.dropFirst(), patience: patience, body)
        }
    }

    // MARK: - Transactions

    func write(
        _ urgency: GroupedWrites.Urgency, insists: Bool = false, _ work: @escaping Work,
        then: @escaping @Sendable (CacheOutcome) -> Void
    ) {
        let run = WriteRun()
        let acceptance: GroupedWrites.Acceptance
        do throws(StoreError) {
            acceptance = try writes().submit(urgency, insists: insists) { [self] (transaction) throws(StoreError) in
                run.effects = CacheTables.Effects()
                run.outcome = try work(transaction, &run.effects)
                settings.pass(.beforeCommit)
            } completion: { [self] result in
                switch result {
                case .success:
                    settings.pass(.afterCommit)
                    settle(run.effects)
                    then(run.outcome)
                case .failure(let error):
                    then(.notDone(.failed(error)))
                }
            }
        } catch {
            return then(.notDone(.failed(error)))
        }
        switch acceptance {
        case .accepted: break
        case .full: then(.notDone(.busy))
        case .stopped: then(.notDone(.failed(.closed)))
        }
    }

    func writeNow(_ work: Work) -> CacheOutcome {
        var effects = CacheTables.Effects()
        do throws(StoreError) {
            let outcome = try environment.write { (transaction) throws(StoreError) in
                effects = CacheTables.Effects()
                tables.begin()
                let outcome = try work(transaction, &effects)
                try tables.end(in: transaction)
                settings.pass(.beforeCommit)
                return outcome
            }
            settings.pass(.afterCommit)
            settle(effects)
            return outcome
        } catch {
            return .notDone(.failed(error))
        }
    }

    private func apply(
        _ change: CacheWrite, in transaction: borrowing Transaction, _ effects: inout CacheTables.Effects
    ) throws(StoreError) -> CacheOutcome {
        switch change {
        case .append(let record):
            if case .blob = record.body { marks.mark() }
            return try tables.append(record, in: transaction, &effects)
        case .replaceHeader(let use, let header, let stored):
            return try tables.replaceHeader(of: use, header: header, stored: stored, in: transaction, &effects)
        case .remove(let use):
            return .removed(try tables.remove(use, in: transaction, &effects) ? 1 : 0)
        case .removeAll(let digest):
            return .removed(try tables.removeAll(digest, in: transaction, &effects))
        case .removeMatching, .evict:
            return .removed(0)
        }
    }

    /// The store thread, started with the first change.
    private func writes() throws(StoreError) -> GroupedWrites {
        try pending.withLock { (pending) throws(StoreError) in
            if let writes = pending.writes { return writes }
            if pending.isClosed { throw .closed }
            let frame = GroupedWrites.Frame { [tables] in
                tables.begin()
            } end: { [tables] (transaction) throws(StoreError) in
                try tables.end(in: transaction)
            }
            let writes = try GroupedWrites.start(environment, frame: frame)
            pending.writes = writes
            return writes
        }
    }

    // MARK: - After the commit

    private func settle(_ effects: CacheTables.Effects) {
        let generation = environment.generation
        let isRebuilt = pending.withLock { pending in
            for digest in effects.orphans { pending.orphans.insert(digest) }
            defer { pending.generation = generation }
            return pending.generation != generation
        }
        // With the files of the environment the directory may have gone.
        if isRebuilt { blobs.refresh() }
        if isRebuilt || effects.leavesFiles { sweep() }
        collect()
    }

    /// A body that has its name but no record is as good as an orphan.
    private func settleFile(of record: NewRecord, _ outcome: CacheOutcome) {
        guard case .blob(let blob) = record.body, case .notDone = outcome else { return }
        pending.withLock { pending in
            _ = pending.orphans.insert(blob.reference.digest)
        }
        collect()
    }

    /// Removes the files of blobs that lost their last record, in a transaction of their own.
    ///
    /// Not in the one that removed the record: were that not committed, the record would be without its body. The writer
    /// lock keeps others from referring to a blob while its file goes.
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
