/// The counters of the cache: read once for a group of changes, written once, and counted again where they cannot be
/// right.
extension CacheTables {
    func counters(in transaction: borrowing Transaction) throws(StoreError) -> CacheCounters {
        if let counters = memo.counters { return counters }
        let counters: CacheCounters
        if let row = try transaction.get(CacheSchema.meta, CacheCounters.key), let found = CacheCounters(row) {
            counters = found
        } else {
            counters = try Self.recount(in: transaction)
        }
        memo.note(counters)
        return counters
    }

    func save(_ counters: CacheCounters, in transaction: borrowing Transaction) throws(StoreError) {
        if !memo.change(counters) { try write(counters, in: transaction) }
    }

    /// A group of changes begins, in a new transaction.
    func begin() { memo.begin() }

    /// A group of changes ends; its transaction is still open.
    func end(in transaction: borrowing Transaction) throws(StoreError) {
        if let counters = memo.end() { try write(counters, in: transaction) }
    }

    private func write(_ counters: CacheCounters, in transaction: borrowing Transaction) throws(StoreError) {
        try counters.withBytes { (row) throws(StoreError) in
            try transaction.put(CacheSchema.meta, CacheCounters.key, row)
        }
    }

    /// What the counters must be by what the tables hold. Rows whose keys are no ticks are damage, and go.
    private static func recount(
        in transaction: borrowing Transaction, after last: CacheCounters? = nil
    ) throws(StoreError) -> CacheCounters {
        var counters = CacheCounters()
        for table in [CacheSchema.records, CacheSchema.bodies, CacheSchema.recency] {
            while let last = try transaction.last(table)?.key {
                if last < CacheCounters.mostTicks - 1 {
                    counters.next = max(counters.next, last + 1)
                    break
                }
                try transaction.delete(table, last)
            }
        }
        try transaction.scan(CacheSchema.blobs, from: .empty) { _, row in
            if let blob = BlobRow(row) { counters.add(blob) }
            return true
        }
        guard let last else {
            counters.slot = counters.next
            return counters
        }
        // Slots of living records are not given out again: their last uses would be lost. Each was given for a tick, so
        // as many may have been given since that row as there were ticks.
        counters.slot = last.slot &+ (counters.next - min(counters.next, last.next))
        counters.next = max(counters.next, last.next)
        counters.scan = last.scan
        return counters
    }

    /// Counts again after a start of the machine, which may have left an older row of counters than of what they count.
    static func recover(in transaction: borrowing Transaction) throws(StoreError) {
        let last = try transaction.get(CacheSchema.meta, CacheCounters.key).flatMap { CacheCounters($0) }
        try recount(in: transaction, after: last).withBytes { (row) throws(StoreError) in
            try transaction.put(CacheSchema.meta, CacheCounters.key, row)
        }
    }
}
