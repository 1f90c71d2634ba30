import CTrawlLMDB
import TrawlPlatform

/// Looking at the structure of what is open, before LMDB follows it.
extension Opening {
    /// Runs `body` on the last snapshot while a transaction keeps its pages, for when others may write.
    func withSnapshot<Value>(
        _ body: (MetaPage) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let snapshot = try beginSnapshot()
        defer { endSnapshot(snapshot.transaction) }
        return try body(snapshot.meta)
    }

    /// Begins a transaction of LMDB that keeps the pages of the last snapshot, for who ends it. While LMDB's mapping
    /// does not move.
    func beginSnapshot() throws(StoreError) -> (transaction: OpaquePointer, meta: MetaPage) {
        let transaction = try beginRead()
        do throws(StoreError) {
            return (transaction, try metaPage(of: transaction))
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
    }

    /// Ends what `beginSnapshot` began: the pages may be used again.
    func endSnapshot(_ transaction: OpaquePointer) {
        mdb_txn_abort(transaction)
    }

    /// The meta page of the last snapshot, which the transaction has then.
    private func metaPage(of transaction: OpaquePointer) throws(StoreError) -> MetaPage {
        let base = try map(pages: 2).base
        var seen: MetaPage?
        var damage = Damage(kind: .meta, page: 0)
        for turn in 0..<1000 {
            let identifier = UInt64(mdb_txn_id(transaction))
            // Chosen again after the look, so its page was not yet being written again; see `SnapshotMeta`.
            if let seen, seen.transaction == identifier { return seen }
            do throws(Damage) {
                let number = identifier & 1
                seen = try MetaPage(at: base + Int(number) * PageLayout.size, number: number)
            } catch {
                seen = nil
                damage = error
            }
            mdb_txn_reset(transaction)
            if turn > 10 { MonotonicClock.sleep(for: .microseconds(100)) }
            try succeed(mdb_txn_renew(transaction), "mdb_txn_renew")
        }
        throw damaged(damage)
    }

    /// Checks all that LMDB would follow in a write, in a transaction that is about to write.
    func checkStructure() throws(StoreError) {
        do throws(Damage) {
            let meta = try latestMeta().meta
            try check(meta, tablesOnly: false)
        } catch {
            throw damaged(error)
        }
    }

    /// Checks all that LMDB would follow in a write, while others may write.
    ///
    /// - Parameter onlyIfShort: Only when the file is shorter than its last transaction says: it is cut off, or it ends
    ///   in free pages that were never written.
    func checkSnapshot(onlyIfShort: Bool) throws(StoreError) {
        try withSnapshot { meta throws(StoreError) in
            refreshFilePages()
            if onlyIfShort, filePages > meta.lastPage { return }
            try checkTrees(of: meta)
        }
    }

    /// Checks the trees of a snapshot whose pages stay.
    ///
    /// - Parameter isDeep: Whether the first pages of long values are looked at too.
    func checkTrees(of meta: MetaPage, isDeep: Bool = false) throws(StoreError) {
        do throws(Damage) {
            try check(meta, tablesOnly: false, isDeep: isDeep)
        } catch {
            throw damaged(error)
        }
    }

    /// Checks the trees of a snapshot whose pages stay, or only the tables' records.
    func check(_ meta: MetaPage, tablesOnly: Bool, isDeep: Bool = false) throws(Damage) {
        refreshFilePages()
        let pages = min(filePages, meta.lastPage + 1)
        guard let mapping = try? map(pages: pages) else { throw Damage(kind: .meta, page: 0) }
        if tablesOnly {
            try StructureCheck.runOnTables(base: mapping.base, filePages: pages, meta: meta)
        } else {
            // Once something impossible was read, it has to be found.
            try StructureCheck.run(base: mapping.base, filePages: pages, meta: meta, isDeep: isDeep || isSuspect)
        }
    }

    /// Begins a read transaction of LMDB, for who ends it.
    func beginRead() throws(StoreError) -> OpaquePointer {
        try requireMap()
        var transaction: OpaquePointer?
        let code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
        guard code == 0, let transaction else { throw .fromReading(code, "mdb_txn_begin", path: dataPath) }
        return transaction
    }
}
