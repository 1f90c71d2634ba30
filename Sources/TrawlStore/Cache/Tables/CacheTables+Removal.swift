import TrawlHTTP

/// How far a removal of many records has come, from one transaction to the next.
///
/// Each transaction does a bounded part, so that neither its memory nor the time others wait grows with the store.
struct RemovalCursor: Equatable, Sendable {
    /// Where the next part begins: by what is walked, a sequence, a place in `scoped` or `index`.
    var sequence: UInt64 = 0
    var session = SessionID(0, 0)
    var digest: CacheDigest?
    /// Records from this sequence on came later, and are not meant; 0 before the first part.
    var end: UInt64 = 0
    /// Records changed in the next transaction, at most.
    var most = RemovalCursor.mostAtOnce
    var isDone = false

    static let mostAtOnce = 512

    /// The same place with less to do there; nil when that is one record already.
    ///
    /// A transaction takes new pages for all it changes before it gives back any: on a full disk only a small one
    /// succeeds.
    var smaller: RemovalCursor? {
        guard most > 1 else { return nil }
        var cursor = self
        cursor.most = max(1, most / 8)
        return cursor
    }

    /// The part is done: the next one may be larger.
    mutating func grow() { most = min(Self.mostAtOnce, most * 2) }
}

extension CacheTables {
    /// Rows looked at in one transaction.
    private static let mostLookedAt = 8192

    /// Removes some of the records meant: how many. The cursor says where the rest is.
    func removeMatching(
        _ filter: CacheFilter, _ cursor: inout RemovalCursor, in transaction: borrowing Transaction,
        _ effects: inout Effects
    ) throws(StoreError) -> Int {
        var counters = try counters(in: transaction)
        if cursor.end == 0 { cursor.end = counters.next }
        let removed: Int
        if filter.meansAll {
            removed = Int(clamping: try transaction.statistics(CacheSchema.records).rows)
            try clearAll(in: transaction, &counters)
            effects.leavesFiles = true
            cursor.isDone = true
        } else if filter.origin != nil {
            removed = try removeOrigin(filter, &cursor, in: transaction, &counters, &effects)
        } else {
            switch filter.storageClass {
            case .session, .anySession:
                removed = try removeScoped(filter, &cursor, in: transaction, &counters, &effects)
            case .permanent, nil:
                removed = try removeScanning(filter, &cursor, in: transaction, &counters, &effects)
            }
        }
        try save(counters, in: transaction)
        return removed
    }

    private func removeScanning(
        _ filter: CacheFilter, _ cursor: inout RemovalCursor, in transaction: borrowing Transaction,
        _ counters: inout CacheCounters, _ effects: inout Effects
    ) throws(StoreError) -> Int {
        var meant: [CacheUse] = []
        var damaged: [UInt64] = []
        var left = Self.mostLookedAt
        let (end, most) = (cursor.end, cursor.most)
        var position = cursor.sequence
        try transaction.scan(CacheSchema.records, from: position) { sequence, row in
            guard sequence < end, left > 0, meant.count + damaged.count < most else { return false }
            left -= 1
            position = sequence.following
            if let frame = RecordFrame(row, sequence: sequence) {
                if filter.means(frame) { meant.append(CacheUse(digest: frame.digest, sequence: sequence)) }
            } else {
                damaged.append(sequence)
            }
            return true
        }
        var removed = 0
        for use in meant where try remove(use, in: transaction, &counters, &effects) { removed += 1 }
        for sequence in damaged { try deleteRow(sequence, in: transaction) }
        cursor.isDone = left > 0 && meant.count + damaged.count < most
        cursor.sequence = position
        return removed
    }

    /// Removes records of sessions: of one, or of all.
    private func removeScoped(
        _ filter: CacheFilter, _ cursor: inout RemovalCursor, in transaction: borrowing Transaction,
        _ counters: inout CacheCounters, _ effects: inout Effects
    ) throws(StoreError) -> Int {
        let most = cursor.most
        var only: SessionID?
        if case .session(let session) = filter.storageClass { only = session }
        let start = ScopedKey(only ?? cursor.session, cursor.sequence)
        var keys: [(session: SessionID, sequence: UInt64)] = []
        try start.withBytes { (start) throws(StoreError) in
            try transaction.scan(CacheSchema.scoped, from: start) { key, _ in
                guard keys.count < most, let key = ScopedKey.read(key), only == nil || key.session == only
                else { return false }
                keys.append(key)
                return true
            }
        }
        var removed = 0
        for key in keys where key.sequence < cursor.end {
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
        cursor.isDone = keys.count < most
        if let last = keys.last {
            cursor.session = last.session
            cursor.sequence = last.sequence.following
        }
        return removed
    }

    /// Removes records of one origin: their rows in `index` stand together.
    private func removeOrigin(
        _ filter: CacheFilter, _ cursor: inout RemovalCursor, in transaction: borrowing Transaction,
        _ counters: inout CacheCounters, _ effects: inout Effects
    ) throws(StoreError) -> Int {
        guard let origin = filter.origin else { return 0 }
        var found: [CacheUse] = []
        var last: CacheDigest?
        var isWhole = true
        var left = Self.mostLookedAt
        let most = cursor.most
        try (cursor.digest ?? CacheDigest(origin, 0)).withBytes { (start) throws(StoreError) in
            try transaction.scan(CacheSchema.index, from: start) { key, row in
                guard key.count == CacheDigest.size else { return true }
                let digest = CacheDigest(bytes: key)
                guard digest.words.0 == origin else { return false }
                if found.count >= most || left <= 0 {
                    isWhole = false
                    return false
                }
                left -= 1
                for entry in IndexRow(row).entries where entry.sequence < cursor.end {
                    found.append(CacheUse(digest: digest, sequence: entry.sequence))
                }
                last = digest
                return true
            }
        }
        var removed = 0
        for use in found {
            guard let row = try transaction.get(CacheSchema.records, use.sequence),
                let frame = RecordFrame(row, sequence: use.sequence), frame.digest == use.digest, filter.means(frame)
            else { continue }
            if try remove(use, in: transaction, &counters, &effects) { removed += 1 }
        }
        cursor.digest = last?.next
        cursor.isDone = isWhole || cursor.digest == nil
        return removed
    }
}

extension UInt64 {
    /// The next number; the last one has none, and stays. A damaged row may have that one as its key.
    var following: UInt64 { self < .max ? self + 1 : self }
}
