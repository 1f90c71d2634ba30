import TrawlPlatform

/// A record as a list shows it.
package struct CacheListing: Equatable, Sendable {
    /// Its sequence and the digest of its cache key.
    package let use: CacheUse
    /// The header, opaque here.
    package let header: [UInt8]
    /// Bytes of the body.
    package let bodyLength: UInt64
    /// When it was stored, in milliseconds since 1970.
    package let stored: UInt64
    /// How long it may stay.
    package let storageClass: StorageClass
    /// The file of its body, when it has one.
    package let blobPath: String?
}

/// What a cache store holds.
package struct CacheStatistics: Equatable, Sendable {
    /// Stored responses.
    package var records: UInt64 = 0
    /// Cache keys, variants of one counted once.
    package var keys: UInt64 = 0
    /// Records of sessions.
    package var sessionRecords: UInt64 = 0
    /// Bodies in files.
    package var blobs: UInt64 = 0
    /// Their bytes.
    package var blobBytes: UInt64 = 0
    /// Bytes of the tables' pages.
    package var tableBytes: UInt64 = 0
    /// Bytes it may take.
    package var budget: UInt64 = 0

    /// Bytes it takes, of the budget.
    package var bytes: UInt64 { tableBytes + blobBytes }
}

/// What a look at everything found.
package struct CacheVerification: Equatable, Sendable {
    /// Records looked at.
    package var records: UInt64 = 0
    /// Blobs read from beginning to end.
    package var blobs: UInt64 = 0
    /// Records removed because they, or their bodies, were damaged or gone.
    package var damagedRecords = 0
    /// Blobs among them.
    package var damagedBlobs = 0
}

extension CacheStore {
    /// Rows read in one snapshot, so that none is held for long.
    private static let page = 256

    /// A part of the list of records, the longest stored first.
    ///
    /// - Parameters:
    ///   - after: The sequence of the last record already seen; 0 to begin.
    ///   - limit: The most records.
    package func list(after: UInt64, limit: Int = 256) throws(StoreError) -> [CacheListing] {
        var listings: [CacheListing] = []
        guard after < .max else { return [] }
        try environment.read { (snapshot) throws(StoreError) in
            listings = []
            try snapshot.scan(CacheSchema.records, from: after + 1) { sequence, row in
                guard listings.count < limit else { return false }
                guard let frame = RecordFrame(row, sequence: sequence) else { return true }
                listings.append(
                    CacheListing(
                        use: CacheUse(digest: frame.digest, sequence: sequence), header: [UInt8](frame.header),
                        bodyLength: frame.bodyLength, stored: frame.stored, storageClass: frame.storageClass,
                        blobPath: frame.blobDigest.map { blobs.path + "/" + $0.path }))
                return true
            }
        }
        return listings
    }

    /// How much there is.
    package func statistics() throws(StoreError) -> CacheStatistics {
        try environment.read { (snapshot) throws(StoreError) in
            var statistics = CacheStatistics()
            statistics.records = try snapshot.statistics(CacheSchema.records).rows
            statistics.keys = try snapshot.statistics(CacheSchema.index).rows
            statistics.sessionRecords = try snapshot.statistics(CacheSchema.scoped).rows
            statistics.blobs = try snapshot.statistics(CacheSchema.blobs).rows
            statistics.tableBytes = try snapshot.usedPages * 4096
            statistics.budget = settings.budget
            if let row = try snapshot.get(CacheSchema.meta, CacheCounters.key) {
                statistics.blobBytes = CacheCounters(row)?.blobBytes ?? 0
            }
            return statistics
        }
    }

    /// Removes everything, and the files that nothing refers to.
    package func clear() -> CacheOutcome {
        let outcome = perform(.removeMatching(CacheFilter()))
        sweepNow()
        return outcome
    }

    /// Evicts down to the budget, purges what dead sessions left, and removes files that nothing refers to: how many
    /// records went.
    package func prune() -> CacheOutcome {
        purgeDeadSessions()
        let outcome = perform(.evict)
        sweepNow()
        return outcome
    }

    /// Removes files that nothing refers to, on the calling thread.
    private func sweepNow() {
        for byte in UInt8.min ... .max {
            _ = writeNow { [self] (transaction, _) throws(StoreError) in
                try sweepDirectory(byte, in: transaction)
            }
        }
        blobs.sweepSpools()
        pending.withLock { $0.orphans.removeAll() }
    }

    /// Reads and compares everything, removes what is damaged, and puts the index and the counts of blobs right.
    package func verify() throws(StoreError) -> CacheVerification {
        var result = CacheVerification()
        var sound: Set<ContentDigest> = []
        var position: UInt64 = 0
        while true {
            var damaged: [CacheUse] = []
            var bodies: [(use: CacheUse, blob: BlobReference)] = []
            var seen = 0
            let start = position
            try environment.read { (snapshot) throws(StoreError) in
                try snapshot.scan(CacheSchema.records, from: start) { (sequence, row) throws(StoreError) in
                    guard seen < Self.page else { return false }
                    seen += 1
                    position = sequence + 1
                    guard let frame = RecordFrame(row, sequence: sequence) else {
                        // Whose it was cannot be told.
                        damaged.append(CacheUse(digest: CacheDigest(0, 0), sequence: sequence))
                        return true
                    }
                    let use = CacheUse(digest: frame.digest, sequence: sequence)
                    let key = try frame.digest.withBytes { (key) throws(StoreError) in
                        try snapshot.get(CacheSchema.index, key)
                    }
                    let isIndexed = key.map { IndexRow($0).entries.contains { $0.sequence == sequence } } ?? false
                    if !isIndexed || frame.place == .inline && frame.inlineBody == nil {
                        damaged.append(use)
                    } else if let blob = frame.blob {
                        bodies.append((use, blob))
                    }
                    return true
                }
            }
            result.records += UInt64(seen)
            for (use, blob) in bodies where !sound.contains(blob.digest) {
                if isSound(blob) {
                    sound.insert(blob.digest)
                    result.blobs += 1
                } else {
                    damaged.append(use)
                    result.damagedBlobs += 1
                    _ = writeNow { [self] (_, _) throws(StoreError) in
                        blobs.remove(blob.digest)
                        return .removed(0)
                    }
                }
            }
            for use in damaged {
                if case .removed = perform(.remove(use)) { result.damagedRecords += 1 }
            }
            if seen < Self.page { break }
        }
        _ = writeNow { [self] (transaction, effects) throws(StoreError) in
            try tables.removeDeadEntries(in: transaction)
            try tables.recountBlobs(in: transaction, &effects)
            return .removed(0)
        }
        return result
    }

    private func isSound(_ blob: BlobReference) -> Bool {
        guard blobs.size(of: blob.digest) == blob.length, let file = try? blobs.open(blob.digest) else { return false }
        do throws(BlobError) {
            try BlobReader(reference: blob, file: file).verify()
            return true
        } catch {
            return false
        }
    }
}

extension CacheTables {
    /// Takes what leads to no record out of the index.
    func removeDeadEntries(in transaction: borrowing Transaction) throws(StoreError) {
        var wrong: [CacheDigest] = []
        try transaction.scan(CacheSchema.index, from: .empty) { (key, row) throws(StoreError) in
            guard key.count == CacheDigest.size else { return true }
            let entries = IndexRow(row).entries
            for entry in entries where try transaction.get(CacheSchema.records, entry.sequence) == nil {
                wrong.append(CacheDigest(bytes: key))
                break
            }
            return true
        }
        for digest in wrong {
            var row = try index(of: digest, in: transaction)
            var left: [IndexRow.Entry] = []
            for entry in row.entries {
                if try transaction.get(CacheSchema.records, entry.sequence) != nil { left.append(entry) }
            }
            row.entries = left
            try put(row, of: digest, in: transaction)
        }
    }

    /// Makes the rows of blobs say what the records say.
    func recountBlobs(in transaction: borrowing Transaction, _ effects: inout Effects) throws(StoreError) {
        var counts: [ContentDigest: BlobRow] = [:]
        try transaction.scan(CacheSchema.records, from: 0) { sequence, row in
            if let frame = RecordFrame(row, sequence: sequence), let blob = frame.blobDigest {
                counts[blob, default: BlobRow(references: 0, length: frame.bodyLength)].references += 1
            }
            return true
        }
        var wrong: [ContentDigest] = []
        var right: Set<ContentDigest> = []
        try transaction.scan(CacheSchema.blobs, from: .empty) { key, row in
            guard key.count == ContentDigest.size else { return true }
            let digest = ContentDigest(bytes: key)
            if BlobRow(row) == counts[digest] { right.insert(digest) } else { wrong.append(digest) }
            return true
        }
        for digest in wrong {
            try digest.withBytes { (key) throws(StoreError) in _ = try transaction.delete(CacheSchema.blobs, key) }
            effects.orphans.append(digest)
        }
        for (digest, row) in counts where !right.contains(digest) { try put(row, of: digest, in: transaction) }
        var counters = try counters(in: transaction)
        counters.blobBytes = counts.values.reduce(0) { $0 + $1.length }
        counters.scan = 0
        try save(counters, in: transaction)
    }
}
