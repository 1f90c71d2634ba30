import TrawlPlatform

/// Where a long change goes on, set on the store thread and read there after the commit.
///
/// `@unchecked Sendable`: the work and its completion run on the same thread, one after the other.
private final class LongRun: @unchecked Sendable {
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
    ///   - urgency: `soon` waits up to 4 ms for others to share the transaction with.
    ///   - enough: With so many waiting the transaction begins at once.
    ///   - then: Called once: after the commit on the store thread, or at once on the caller's when the change is refused.
    package func submit(
        _ change: CacheWrite, _ urgency: GroupedWrites.Urgency = .now, enough: Int = .max,
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
        hand(CacheChange(self, .change(change), then), urgency, insists: change.insists, enough: enough)
    }

    /// Makes a change now, on the calling thread, which waits for other writers.
    package func perform(_ change: CacheWrite) -> CacheOutcome {
        if change.isLong { return performInParts(change) }
        var outcome: CacheOutcome
        repeat {
            outcome = writeNow { [self] (transaction, effects) throws(StoreError) in
                try apply(change, in: transaction, &effects)
            }
        } while outcome.isDiskFull && change.onlyRemoves && reserve.release()
        if case .append(let record) = change { settleFile(of: record, outcome) }
        return outcome
    }

    /// Makes a long change, one part after the other; others write between them.
    private func submitPart(
        of change: CacheWrite, _ urgency: GroupedWrites.Urgency, from start: RemovalCursor, done: Int,
        _ then: @escaping @Sendable (CacheOutcome) -> Void
    ) {
        let run = LongRun()
        marks.mark()
        write(urgency, insists: change.insists) { [self] (transaction, effects) throws(StoreError) in
            run.cursor = start
            return .removed(try makePart(of: change, &run.cursor, in: transaction, &effects))
        } then: { [self] outcome in
            if outcome.isDiskFull, let smaller = smaller(start) {
                return submitPart(of: change, urgency, from: smaller, done: done, then)
            }
            guard case .removed(let count) = outcome else { return then(outcome) }
            if run.cursor.isDone { return then(.removed(done + count)) }
            run.cursor.grow()
            submitPart(of: change, urgency, from: run.cursor, done: done + count, then)
        }
    }

    private func performInParts(_ change: CacheWrite) -> CacheOutcome {
        let run = LongRun()
        var removed = 0
        marks.mark()
        while !run.cursor.isDone {
            let start = run.cursor
            let outcome = writeNow { [self] (transaction, effects) throws(StoreError) in
                run.cursor = start
                return .removed(try makePart(of: change, &run.cursor, in: transaction, &effects))
            }
            if outcome.isDiskFull, let smaller = smaller(start) {
                run.cursor = smaller
                continue
            }
            guard case .removed(let count) = outcome else { return outcome }
            removed += count
            run.cursor.grow()
        }
        return .removed(removed)
    }

    /// What to try on a full disk in place of a part that had no room; nil when nothing is left to be tried.
    func smaller(_ part: RemovalCursor) -> RemovalCursor? { part.smaller ?? (reserve.release() ? part : nil) }

    private func makePart(
        of change: CacheWrite, _ cursor: inout RemovalCursor, in transaction: borrowing Transaction,
        _ effects: inout CacheTables.Effects
    ) throws(StoreError) -> Int {
        switch change {
        case .removeMatching(let filter):
            return try tables.removeMatching(filter, &cursor, in: transaction, &effects)
        case .evict:
            return try tables.evictSome(&cursor, in: transaction, &effects)
        case .append, .replaceHeader, .remove, .removeDamaged, .removeAll:
            cursor.isDone = true
            return 0
        }
    }

    /// Runs `body` while no process is in the middle of a write to one of the stores, or did not come to its end in
    /// time. This one begins no other before `Environment.resumeWrites`.
    ///
    /// For who is about to stop other processes, and then this one: others would wait for one that stops while it
    /// writes.
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
        hand(CacheChange(self, .other(work), then), urgency, insists: insists)
    }

    func hand(
        _ change: CacheChange, _ urgency: GroupedWrites.Urgency, insists: Bool = false, enough: Int = .max
    ) {
        let acceptance: GroupedWrites.Acceptance
        do throws(StoreError) {
            acceptance = try writes().submit(urgency, insists: insists, enough: enough, change)
        } catch {
            return change.ended(error)
        }
        switch acceptance {
        case .accepted: break
        case .full: change.end(.notDone(.busy))
        case .stopped: change.ended(.closed)
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

    func apply(
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
        case .removeDamaged(let use, let reader):
            return .removed(try removeDamaged(use, reader, in: transaction, &effects) ? 1 : 0)
        case .removeAll(let digest, let answered):
            if let answered { clock.noteRemoval(of: digest, at: answered) }
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
            var limits = GroupedWrites.Limits()
            // A transaction costs as much as a dozen records in it.
            limits.delay = .milliseconds(4)
            let writes = try GroupedWrites.start(environment, limits: limits, frame: frame)
            pending.writes = writes
            return writes
        }
    }

    // MARK: - After the commit

    func settle(_ effects: CacheTables.Effects) {
        let generation = environment.generation
        let (isRebuilt, hasOrphans) = pending.withLock { pending in
            for digest in effects.orphans { pending.orphans.insert(digest) }
            defer { pending.generation = generation }
            return (pending.generation != generation, !pending.orphans.isEmpty)
        }
        if isRebuilt {
            _ = environment.claimFreshFiles()
            // With the files of the environment the directory may have gone.
            blobs.refresh()
        }
        if isRebuilt || effects.leavesFiles { sweep() }
        if hasOrphans { collect() }
    }
}
