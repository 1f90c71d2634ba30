import TrawlHTTP
import TrawlPlatform

/// The changes of the cache's tables, inside a transaction.
///
/// Nothing is kept here between transactions, because one may be run again: the counters are read from the table `meta`
/// and written back, once for a group of changes, and what must not happen before the commit is noted in `Effects`.
struct CacheTables {
    let settings: CacheSettings
    let clock: UseClock
    let memo = CounterMemo()

    /// What is to be done once the transaction is committed.
    struct Effects: Equatable {
        /// Blobs that no record refers to any more.
        var orphans: [ContentDigest] = []
        /// Whether there may be more of them than are named.
        var leavesFiles = false
    }

    // MARK: - Storing

    /// Stores a response and makes room for it.
    func append(
        _ record: NewRecord, in transaction: borrowing Transaction, _ effects: inout Effects
    ) throws(StoreError) -> CacheOutcome {
        guard record.body.length <= settings.longestBody, record.header.count <= RecordFrame.longestHeader else {
            return .notDone(.tooLong)
        }
        if isOvertaken(record) { return .notDone(.overtaken) }
        var counters = try counters(in: transaction)
        let sequence = clock.tick(atLeast: counters.next)
        counters.next = sequence + 1
        let entry = IndexRow.Entry(sequence: sequence, slot: counters.takeSlot())
        // Mostly nothing is stored under the digest, and then this is all there is to do about it.
        let isOnly = try insert(entry, of: record.digest, in: transaction)
        if !isOnly {
            let row = try index(of: record.digest, in: transaction)
            switch try succession(of: record, in: row, transaction) {
            case .replaces(let obsolete):
                try add(entry, to: row, without: obsolete, for: record, in: transaction, &counters, &effects)
            case .yields(let other, let header):
                // In a transaction that was run before this one the file may have got its name.
                if case .blob(let blob) = record.body { effects.orphans.append(blob.reference.digest) }
                guard let header else { return .stored(other.sequence) }
                let use = CacheUse(digest: record.digest, sequence: other.sequence, slot: other.slot)
                return try replaceHeader(of: use, header: header, stored: record.stored, in: transaction, &effects)
            }
        }
        clock.assign(entry.slot, last: 0)
        if case .blob(let blob) = record.body {
            settings.pass(.afterSpool)
            do throws(SystemError) {
                try blob.publish()
            } catch {
                throw StoreError.from(error)
            }
            settings.pass(.afterRename)
            try refer(to: blob.reference, in: transaction, &counters)
        }
        switch record.body {
        case .inline(let bytes):
            try bytes.span.withUnsafeBytes { (bytes) throws(StoreError) in
                try write(
                    sequence, record.digest, record.storageClass, record.stored, record.header,
                    RecordBody(bytes, header: record.header.count), in: transaction)
            }
        case .blob(let blob):
            try write(
                sequence, record.digest, record.storageClass, record.stored, record.header, .blob(blob.reference),
                in: transaction)
        }
        try evict(after: UInt64(record.header.count) + record.body.length, in: transaction, &counters, &effects)
        try save(counters, in: transaction)
        return .stored(sequence)
    }

    /// Whether all of a record's digest was removed for an answer that came after the record was asked for.
    ///
    /// - Source: RFC 9111 §4.4: what was asked for before is no more right than what was stored before.
    private func isOvertaken(_ record: NewRecord) -> Bool {
        guard let asked = record.asked else { return false }
        let removal = clock.lastRemoval(of: record.digest)
        guard removal > 0 else { return false }
        // What is still to come was noted by a clock that was wrong. Of a removal that says nothing; where it is the
        // request, nobody knows which of the two came first.
        let latest = UInt64(max(0, WallClock.time().milliseconds)) + UseClock.mostAhead
        return removal <= latest && (removal > asked || asked > latest)
    }

    /// Puts a new record last in the row of a digest that has one, drops what it replaces and what is too many.
    private func add(
        _ entry: IndexRow.Entry, to row: IndexRow, without obsolete: [UInt64], for record: NewRecord,
        in transaction: borrowing Transaction, _ counters: inout CacheCounters, _ effects: inout Effects
    ) throws(StoreError) {
        var row = row
        let digest = record.digest
        for sequence in obsolete {
            guard let place = row.entries.firstIndex(where: { $0.sequence == sequence }) else { continue }
            try drop(row.entries.remove(at: place), of: digest, in: transaction, &counters, &effects)
        }
        for old in try surplus(in: row, beside: record.header.count, sparing: nil, transaction) {
            row.entries.removeAll { $0 == old }
            try drop(old, of: digest, in: transaction, &counters, &effects)
        }
        while row.entries.count >= IndexRow.mostEntries {
            try drop(row.entries.removeFirst(), of: digest, in: transaction, &counters, &effects)
        }
        row.entries.append(entry)
        try put(row, of: digest, in: transaction)
    }

    /// The oldest records of a digest, as many as leave too little room for the rest and for one more.
    ///
    /// - Parameters:
    ///   - header: Bytes of the header of that one.
    ///   - spared: Its sequence, when it is among them.
    private func surplus(
        in row: IndexRow, beside header: Int, sparing spared: UInt64?, _ transaction: borrowing Transaction
    ) throws(StoreError) -> [IndexRow.Entry] {
        var left = IndexRow.mostBytes - RecordFrame.fixedSize - header
        var found: [IndexRow.Entry] = []
        for entry in row.entries.reversed() where entry.sequence != spared {
            left -= try transaction.get(CacheSchema.records, entry.sequence)?.count ?? 0
            if left < 0 { found.append(entry) }
        }
        return found
    }

    /// What a new record is to the others of its digest.
    private enum Succession {
        /// It takes the place of these, by sequence.
        case replaces([UInt64])
        /// One of them holds what it has, and gets this header; or is newer, and gets none.
        case yields(to: IndexRow.Entry, header: [UInt8]?)
    }

    private func succession(
        of record: NewRecord, in row: IndexRow, _ transaction: borrowing Transaction
    ) throws(StoreError) -> Succession {
        var sequences = record.replacing
        guard let judge = record.judge else { return .replaces(sequences) }
        for entry in row.entries where !sequences.contains(entry.sequence) {
            guard let bytes = try transaction.get(CacheSchema.records, entry.sequence),
                let frame = RecordFrame(bytes, sequence: entry.sequence), frame.digest == record.digest
            else { continue }
            switch judge(frame.header) {
            case .stays: break
            case .goes: sequences.append(entry.sequence)
            case .prevails(let header): return .yields(to: entry, header: header)
            }
        }
        return .replaces(sequences)
    }

    /// Gives a record another header, in its place, and counts that as a use.
    ///
    /// Neither the body nor the index is touched, so this changes one page, which the record shares with others.
    func replaceHeader(
        of use: CacheUse, header: [UInt8], stored: UInt64, in transaction: borrowing Transaction,
        _ effects: inout Effects
    ) throws(StoreError) -> CacheOutcome {
        guard header.count <= RecordFrame.longestHeader else { return .notDone(.tooLong) }
        guard let bytes = try transaction.get(CacheSchema.records, use.sequence) else { return .notDone(.gone) }
        guard let frame = RecordFrame(bytes, sequence: use.sequence), frame.digest == use.digest else {
            _ = try remove(use, in: transaction, &effects)
            return .notDone(.gone)
        }
        // The row's memory is only good until the first change.
        try withUnsafeTemporaryAllocation(
            byteCount: frame.size(withHeader: header.count), alignment: 8
        ) { (row) throws(StoreError) in
            header.span.withUnsafeBytes { frame.write(to: row, header: $0, stored: stored) }
            try transaction.put(CacheSchema.records, use.sequence, UnsafeRawBufferPointer(row))
        }
        clock.use(use.slot)
        var counters = try counters(in: transaction)
        let before = counters
        // What is shorter is one of so many that all have room.
        if header.count > IndexRow.mostBytes / IndexRow.mostEntries {
            var row = try index(of: use.digest, in: transaction)
            for old in try surplus(in: row, beside: header.count, sparing: use.sequence, transaction) {
                row.entries.removeAll { $0 == old }
                try put(row, of: use.digest, in: transaction)
                try drop(old, of: use.digest, in: transaction, &counters, &effects)
            }
        }
        try evict(after: UInt64(header.count), in: transaction, &counters, &effects)
        if counters != before { try save(counters, in: transaction) }
        return .stored(use.sequence)
    }

    private func write(
        _ sequence: UInt64, _ digest: CacheDigest, _ storageClass: StorageClass, _ stored: UInt64, _ header: [UInt8],
        _ body: RecordBody, in transaction: borrowing Transaction
    ) throws(StoreError) {
        if case .apart(let lead, _) = body {
            try append(to: CacheSchema.bodies, sequence, count: lead.count, in: transaction) {
                $0.copyMemory(from: lead)
            }
        }
        try header.span.withUnsafeBytes { (header) throws(StoreError) in
            let size = RecordFrame.size(header: header.count, body: body)
            try append(to: CacheSchema.records, sequence, count: size, in: transaction) { row in
                RecordFrame.write(
                    to: row, sequence: sequence, digest: digest, stored: stored, storageClass: storageClass,
                    header: header, body: body)
            }
        }
        if case .session(let session) = storageClass {
            try ScopedKey(session, sequence).withBytes { (key) throws(StoreError) in
                try transaction.put(CacheSchema.scoped, key, .empty)
            }
        }
    }

    /// Adds a row behind all others. What is found behind its place is damage, since each sequence is above all before
    /// it, and would be in the way for ever.
    private func append(
        to table: Table, _ sequence: UInt64, count: Int, in transaction: borrowing Transaction,
        _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            return try transaction.append(table, sequence, count: count, fill)
        } catch {
            guard case .unfit = error else { throw error }
        }
        for _ in 0..<Self.mostDamaged {
            guard let last = try transaction.last(table)?.key, last >= sequence else { break }
            try transaction.delete(table, last)
        }
        try transaction.append(table, sequence, count: count, fill)
    }

    /// Rows under impossible keys that are removed in one go.
    private static let mostDamaged = 64

    // MARK: - Rows

    func index(of digest: CacheDigest, in transaction: borrowing Transaction) throws(StoreError) -> IndexRow {
        let row = try digest.withBytes { (key) throws(StoreError) in try transaction.get(CacheSchema.index, key) }
        return row.map { IndexRow($0) } ?? IndexRow()
    }

    /// Makes the row of a digest that has none; false, and nothing is changed, when it has one.
    private func insert(
        _ entry: IndexRow.Entry, of digest: CacheDigest, in transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        try digest.withBytes { (key) throws(StoreError) in
            try entry.withBytes { (value) throws(StoreError) in
                try transaction.insert(CacheSchema.index, key, value)
            }
        }
    }

    func put(
        _ row: IndexRow, of digest: CacheDigest, in transaction: borrowing Transaction
    ) throws(StoreError) {
        try digest.withBytes { (key) throws(StoreError) in
            if row.entries.isEmpty {
                _ = try transaction.delete(CacheSchema.index, key)
                return
            }
            try row.withBytes { (value) throws(StoreError) in try transaction.put(CacheSchema.index, key, value) }
        }
    }

    private func blobRow(
        _ digest: ContentDigest, in transaction: borrowing Transaction
    ) throws(StoreError) -> BlobRow? {
        try digest.withBytes { (key) throws(StoreError) in try transaction.get(CacheSchema.blobs, key) }
            .flatMap { BlobRow($0) }
    }

    /// One more record refers to a blob.
    private func refer(
        to blob: BlobReference, in transaction: borrowing Transaction, _ counters: inout CacheCounters
    ) throws(StoreError) {
        var row = try blobRow(blob.digest, in: transaction) ?? BlobRow(references: 0, length: blob.length)
        if row.references == 0 { counters.add(row) }
        row.references += 1
        try put(row, of: blob.digest, in: transaction)
    }

    /// One record less refers to a blob; with the last one the blob goes.
    func forgo(
        _ digest: ContentDigest, in transaction: borrowing Transaction, _ counters: inout CacheCounters,
        _ effects: inout Effects
    ) throws(StoreError) {
        guard var row = try blobRow(digest, in: transaction) else {
            effects.orphans.append(digest)
            return
        }
        if row.references > 1 {
            row.references -= 1
            return try put(row, of: digest, in: transaction)
        }
        counters.remove(row)
        effects.orphans.append(digest)
        try digest.withBytes { (key) throws(StoreError) in _ = try transaction.delete(CacheSchema.blobs, key) }
    }

    func put(
        _ row: BlobRow, of digest: ContentDigest, in transaction: borrowing Transaction
    ) throws(StoreError) {
        try digest.withBytes { (key) throws(StoreError) in
            try row.withBytes { (value) throws(StoreError) in try transaction.put(CacheSchema.blobs, key, value) }
        }
    }
}
