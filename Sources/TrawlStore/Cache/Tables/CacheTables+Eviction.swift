extension CacheTables {
    /// Bytes of pages that one record takes at most beside its own: pages begun and divided.
    private static let mostAround: UInt64 = 64 << 10

    private enum Step {
        case evicted
        /// A record was used since it got its place, and has a later one now.
        case moved
        /// There is none.
        case none
        /// Enough was looked at for this transaction.
        case later
    }

    /// Evicts the least recently used records when the budget is passed, and then a little more.
    ///
    /// - Parameter bytes: What was stored just now.
    func evict(
        after bytes: UInt64, in transaction: borrowing Transaction, _ counters: inout CacheCounters,
        _ effects: inout Effects
    ) throws(StoreError) {
        if memo.takes(bytes &+ Self.mostAround) { return }
        var pages = try transaction.usedPages
        let used = pages &* 4096 &+ counters.blobBytes
        if used <= settings.budget { return memo.note(room: settings.budget - used) }
        var evicted = 0
        while true {
            switch try evictOne(in: transaction, &counters, &effects) {
            case .none, .later: return
            case .moved: continue
            case .evicted: evicted += 1
            }
            // Pages go a few at a time; asking for their number after each record would cost as much as the record.
            if evicted & 7 == 0 { pages = try transaction.usedPages }
            if pages &* 4096 &+ counters.blobBytes <= settings.lowWater { return }
        }
    }

    /// Evicts some records when the budget is passed: how many. The cursor says whether there is more to do.
    func evictSome(
        _ cursor: inout RemovalCursor, in transaction: borrowing Transaction, _ effects: inout Effects
    ) throws(StoreError) -> Int {
        let before = try counters(in: transaction)
        var counters = before
        // Hits at the same time move records on for as long as they come.
        if cursor.end == 0 { cursor.end = 1000 + 4 * (try transaction.statistics(CacheSchema.records).rows) }
        var evicted = 0
        var isOver = false
        for _ in 0..<cursor.most {
            guard try transaction.usedPages &* 4096 &+ counters.blobBytes > settings.budget else {
                cursor.isDone = true
                break
            }
            cursor.sequence += 1
            switch try evictOne(in: transaction, &counters, &effects) {
            case .none: cursor.isDone = true
            case .moved: break
            case .evicted: evicted += 1
            case .later: isOver = true
            }
            if cursor.sequence >= cursor.end { cursor.isDone = true }
            if cursor.isDone || isOver { break }
        }
        // What changes nothing needs no room.
        if counters != before { try save(counters, in: transaction) }
        return evicted
    }

    /// Evicts the least recently used record, or finds that the one that seemed to be was used since.
    ///
    /// Every record has a place in one order: its sequence at first, and later, in the table `recency`, the tick of a
    /// use of it. A use itself changes only the record's slot, so a place is never later than the last use. The first
    /// record of the order is either the least recently used, when its slot has nothing later, or it moves to the place
    /// its slot names. So the order is exact where it matters, and costs a change of the tables only to records that
    /// are hit again and again while others are evicted.
    ///
    /// Whatever the tables say, each call takes a row away or moves a record on.
    private func evictOne(
        in transaction: borrowing Transaction, _ counters: inout CacheCounters, _ effects: inout Effects
    ) throws(StoreError) -> Step {
        guard memo.step() else { return .later }
        var first: (order: UInt64, use: CacheUse?)?
        try transaction.scan(CacheSchema.recency, from: 0) { order, row in
            first = (order, RecencyRow.read(row))
            return false
        }
        switch try firstUnmoved(in: transaction, &counters, before: first?.order ?? .max) {
        case .later: return .later
        case .none: break
        case .found(let unmoved):
            guard let (use, row, ties) = unmoved.record else {
                try deleteRow(unmoved.sequence, in: transaction)
                return .evicted
            }
            return try evict(use, row, ties, at: use.sequence, in: transaction, &counters, &effects)
        }
        if let first {
            guard let use = first.use else {
                _ = try transaction.delete(CacheSchema.recency, first.order)
                return .evicted
            }
            let row = try index(of: use.digest, in: transaction)
            let frame = try transaction.get(CacheSchema.records, use.sequence)
                .flatMap { RecordFrame($0, sequence: use.sequence) }
            guard let frame, frame.digest == use.digest else {
                _ = try remove(use, in: transaction, &counters, &effects)
                try transaction.delete(CacheSchema.recency, first.order)
                return .evicted
            }
            return try evict(use, row, RecordTies(frame), at: first.order, in: transaction, &counters, &effects)
        }
        if try transaction.last(CacheSchema.records) == nil {
            if try transaction.statistics(CacheSchema.blobs).rows > 0 { effects.leavesFiles = true }
            try clearAll(in: transaction, &counters)
            return .none
        }
        // Records whose place was damaged: they are looked at again, from the start.
        if counters.scan == 0 { return .none }
        counters.scan = 0
        return .moved
    }

    /// Evicts the record at the first place of the order, unless it was used since it got there.
    private func evict(
        _ use: CacheUse, _ row: IndexRow, _ ties: RecordTies, at place: UInt64, in transaction: borrowing Transaction,
        _ counters: inout CacheCounters, _ effects: inout Effects
    ) throws(StoreError) -> Step {
        var row = row
        var entry = IndexRow.Entry(sequence: use.sequence, slot: 0)
        if let index = row.entries.firstIndex(where: { $0.sequence == use.sequence }) {
            let last = clock.last(row.entries[index].slot)
            // A tick that is still to come is damage.
            if last > place, last <= clock.now, try transaction.get(CacheSchema.recency, last) == nil {
                if row.entries[index].order != 0 { _ = try transaction.delete(CacheSchema.recency, place) }
                row.entries[index].order = last
                row.entries[index].slot = counters.takeSlot()
                clock.assign(row.entries[index].slot, last: last)
                try put(row, of: use.digest, in: transaction)
                try transaction.put(CacheSchema.recency, last, count: RecencyRow.size) { RecencyRow.write(use, to: $0) }
                return .moved
            }
            entry = row.entries.remove(at: index)
            try put(row, of: use.digest, in: transaction)
        }
        try drop(entry, tiedBy: ties, in: transaction, &counters, &effects)
        // Its place is its sequence or goes with it, unless one of the two was damaged.
        if place != use.sequence, place != entry.order { try transaction.delete(CacheSchema.recency, place) }
        return .evicted
    }

    /// Empties all tables but `meta`. The files of blobs stay; there may be very many.
    func clearAll(
        in transaction: borrowing Transaction, _ counters: inout CacheCounters
    ) throws(StoreError) {
        for table in [
            CacheSchema.records, CacheSchema.bodies, CacheSchema.index, CacheSchema.recency, CacheSchema.blobs,
            CacheSchema.scoped,
        ] {
            try transaction.clear(table)
        }
        counters.forgetBlobs()
        counters.scan = 0
    }

    private enum Unmoved {
        /// Without a record when its row is damaged.
        case found((sequence: UInt64, record: (use: CacheUse, row: IndexRow, ties: RecordTies)?))
        case none
        /// Enough was looked at for this transaction.
        case later
    }

    /// The first record by sequence whose place is still its sequence, or whose place in `recency` does not exist.
    ///
    /// - Parameter order: Only records before this are looked for.
    private func firstUnmoved(
        in transaction: borrowing Transaction, _ counters: inout CacheCounters, before order: UInt64
    ) throws(StoreError) -> Unmoved {
        var found = Unmoved.none
        var position = counters.scan
        try transaction.scan(CacheSchema.records, from: position) { (sequence, bytes) throws(StoreError) in
            position = sequence
            if sequence > order { return false }
            guard let frame = RecordFrame(bytes, sequence: sequence) else {
                found = .found((sequence, nil))
                return false
            }
            let row = try index(of: frame.digest, in: transaction)
            let entry = row.entries.first { $0.sequence == sequence }
            if let place = entry?.order, place != 0, try isPlace(place, of: sequence, in: transaction) {
                if memo.step() { return true }
                found = .later
                return false
            }
            found = .found((sequence, (CacheUse(digest: frame.digest, sequence: sequence), row, RecordTies(frame))))
            return false
        }
        counters.scan = position
        return found
    }

    private func isPlace(
        _ order: UInt64, of sequence: UInt64, in transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        guard let row = try transaction.get(CacheSchema.recency, order) else { return false }
        return RecencyRow.read(row)?.sequence == sequence
    }
}
