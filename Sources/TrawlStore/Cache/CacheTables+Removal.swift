extension CacheTables {
    /// Rows read before those that are meant are removed.
    private static let step = 1024

    /// Removes the records meant: how many.
    func removeMatching(
        _ filter: CacheFilter, in transaction: borrowing Transaction, _ effects: inout Effects
    ) throws(StoreError) -> Int {
        var counters = try counters(in: transaction)
        let removed: Int
        if filter.meansAll {
            removed = Int(clamping: try transaction.statistics(CacheSchema.records).rows)
            try clearAll(in: transaction, &counters, &effects)
        } else if case .session(let session) = filter.storageClass {
            removed = try removeScoped(from: session, through: session, filter, in: transaction, &counters, &effects)
        } else if filter.storageClass == .anySession {
            removed = try removeScoped(from: nil, through: nil, filter, in: transaction, &counters, &effects)
        } else {
            removed = try removeScanning(filter, in: transaction, &counters, &effects)
        }
        try save(counters, in: transaction)
        return removed
    }

    private func removeScanning(
        _ filter: CacheFilter, in transaction: borrowing Transaction, _ counters: inout CacheCounters,
        _ effects: inout Effects
    ) throws(StoreError) -> Int {
        var removed = 0
        var position: UInt64 = 0
        while true {
            var meant: [CacheUse] = []
            var damaged: [UInt64] = []
            var left = Self.step
            try transaction.scan(CacheSchema.records, from: position) { sequence, row in
                if left == 0 { return false }
                left -= 1
                position = sequence + 1
                if let frame = RecordFrame(row, sequence: sequence) {
                    if filter.means(frame) { meant.append(CacheUse(digest: frame.digest, sequence: sequence)) }
                } else {
                    damaged.append(sequence)
                }
                return true
            }
            for use in meant where try remove(use, in: transaction, &counters, &effects) { removed += 1 }
            for sequence in damaged { _ = try transaction.delete(CacheSchema.records, sequence) }
            if left > 0 { return removed }
        }
    }

    private func removeScoped(
        from first: SessionID?, through last: SessionID?, _ filter: CacheFilter,
        in transaction: borrowing Transaction, _ counters: inout CacheCounters, _ effects: inout Effects
    ) throws(StoreError) -> Int {
        var removed = 0
        var position = ScopedKey(first ?? SessionID(0, 0), 0)
        while true {
            var keys: [(session: SessionID, sequence: UInt64)] = []
            try position.withBytes { (start) throws(StoreError) in
                try transaction.scan(CacheSchema.scoped, from: start) { key, _ in
                    guard keys.count < Self.step, let key = ScopedKey.read(key), last == nil || key.session == last
                    else { return false }
                    keys.append(key)
                    return true
                }
            }
            for key in keys {
                var use: CacheUse?
                if let row = try transaction.get(CacheSchema.records, key.sequence),
                    let frame = RecordFrame(row, sequence: key.sequence), frame.storageClass == .session(key.session)
                {
                    guard filter.means(frame) else { continue }
                    use = CacheUse(digest: frame.digest, sequence: key.sequence)
                }
                if let use, try remove(use, in: transaction, &counters, &effects) { removed += 1 }
                // Gone with its record, unless one of the two was damaged.
                try ScopedKey(key.session, key.sequence).withBytes { (key) throws(StoreError) in
                    _ = try transaction.delete(CacheSchema.scoped, key)
                }
            }
            guard keys.count == Self.step, let end = keys.last else { return removed }
            position = ScopedKey(end.session, end.sequence + 1)
        }
    }
}
