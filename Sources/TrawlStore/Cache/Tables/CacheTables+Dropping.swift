/// Taking single records out of the cache's tables, with all that refers to them.
extension CacheTables {
    /// Removes one record. Whether it was there.
    func remove(
        _ use: CacheUse, in transaction: borrowing Transaction, _ effects: inout Effects
    ) throws(StoreError) -> Bool {
        var counters = try counters(in: transaction)
        let wasThere = try remove(use, in: transaction, &counters, &effects)
        try save(counters, in: transaction)
        return wasThere
    }

    /// Removes all records of a key's digest: how many.
    func removeAll(
        _ digest: CacheDigest, in transaction: borrowing Transaction, _ effects: inout Effects
    ) throws(StoreError) -> Int {
        let row = try index(of: digest, in: transaction)
        if row.entries.isEmpty { return 0 }
        var counters = try counters(in: transaction)
        for entry in row.entries { try drop(entry, of: digest, in: transaction, &counters, &effects) }
        try put(IndexRow(), of: digest, in: transaction)
        try save(counters, in: transaction)
        return row.entries.count
    }

    /// Removes a record and its entry in the index.
    func remove(
        _ use: CacheUse, in transaction: borrowing Transaction, _ counters: inout CacheCounters,
        _ effects: inout Effects
    ) throws(StoreError) -> Bool {
        var row = try index(of: use.digest, in: transaction)
        guard let place = row.entries.firstIndex(where: { $0.sequence == use.sequence }) else {
            // Its key may be another's, damaged; what is there under the sequence goes all the same.
            return try drop(
                IndexRow.Entry(sequence: use.sequence, slot: 0), of: use.digest, in: transaction, &counters, &effects)
        }
        let entry = row.entries.remove(at: place)
        try put(row, of: use.digest, in: transaction)
        try drop(entry, of: use.digest, in: transaction, &counters, &effects)
        return true
    }

    /// Removes a record and all that refers to it, except its entry in the index. Whether it was there.
    @discardableResult
    func drop(
        _ entry: IndexRow.Entry, of digest: CacheDigest, in transaction: borrowing Transaction,
        _ counters: inout CacheCounters, _ effects: inout Effects
    ) throws(StoreError) -> Bool {
        var ties: RecordTies?
        let row = try transaction.get(CacheSchema.records, entry.sequence)
        if let frame = row.flatMap({ RecordFrame($0, sequence: entry.sequence) }) {
            if frame.digest == digest {
                ties = RecordTies(frame)
            } else {
                // It is another's; only what leads to it goes.
                if entry.order != 0 { try transaction.delete(CacheSchema.recency, entry.order) }
                return false
            }
        }
        return try drop(entry, tiedBy: ties, in: transaction, &counters, &effects)
    }

    /// Removes a record and all that refers to it, except its entry in the index. Whether it was there.
    ///
    /// - Parameter ties: What its row says; nothing when that is damaged or gone.
    @discardableResult
    func drop(
        _ entry: IndexRow.Entry, tiedBy ties: RecordTies?, in transaction: borrowing Transaction,
        _ counters: inout CacheCounters, _ effects: inout Effects
    ) throws(StoreError) -> Bool {
        if entry.order != 0 { try transaction.delete(CacheSchema.recency, entry.order) }
        if let blob = ties?.blob { try forgo(blob, in: transaction, &counters, &effects) }
        if case .session(let session)? = ties?.storageClass {
            try ScopedKey(session, entry.sequence).withBytes { (key) throws(StoreError) in
                _ = try transaction.delete(CacheSchema.scoped, key)
            }
        }
        return try deleteRow(entry.sequence, isApart: ties?.isApart ?? true, in: transaction)
    }

    /// Deletes a record's row, and that of its body. Whether it was there.
    @discardableResult
    func deleteRow(
        _ sequence: UInt64, isApart: Bool = true, in transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        if isApart { try transaction.delete(CacheSchema.bodies, sequence) }
        return try transaction.delete(CacheSchema.records, sequence)
    }
}
