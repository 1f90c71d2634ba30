import Glibc
import TrawlPlatform

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
/// Looking at everything, and putting right what is damaged.
extension CacheStore {
    /// Rows read in one snapshot, so that none is held for long.
    private static let page = 256
    /// Rows of the index read in one snapshot.
    private static let rowsAtOnce = 8192
    /// Changes made in one transaction.
    private static let mostAtOnce = 512
    /// Blobs kept in mind.
    private static let mostRemembered = 1 << 16

    /// Reads and compares everything, removes what is damaged, and puts the index and the counts of blobs right.
    ///
    /// When the pages themselves contradict each other, everything is removed, and all records count as damaged: as one
    /// where nobody knows how many there were, because opening already met the damage, say.
    package func verify() throws(StoreError) -> CacheVerification {
        var wasLost = environment.claimLoss()
        var result = try verifyWhole()
        // What was lost meanwhile is counted, unless another thread met it.
        if environment.claimLoss(), result.damagedRecords == 0 { wasLost = true }
        if wasLost { result.damagedRecords += 1 }
        return result
    }

    /// Whether all that was stored was thrown away because it was damaged, and nothing was verified since.
    package var hasLostEverything: Bool { environment.hasLostEverything }

    private func verifyWhole() throws(StoreError) -> CacheVerification {
        let generation = environment.generation
        // Of a file that is damaged, nobody knows how many there were; it says so all the same.
        let records = (try? statistics().records) ?? 0
        do throws(StoreError) {
            // The first write makes anew what cannot be kept.
            let isSound = try environment.isSound()
            if !isSound { _ = try writeNow { _, _ in .removed(0) }.removedCount() }
            if environment.generation == generation {
                let result = try verifyRecords()
                if environment.generation == generation { return result }
            }
        } catch {
            guard case .damaged = error else { throw error }
            _ = try writeNow { _, _ in .removed(0) }.removedCount()
        }
        return CacheVerification(records: records, damagedRecords: Int(clamping: max(1, records)))
    }

    private func verifyRecords() throws(StoreError) -> CacheVerification {
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
                    position = sequence.following
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
                    let lead =
                        frame.place == .apart ? try snapshot.get(CacheSchema.bodies, sequence) : nil
                    if !isIndexed || !frame.isSound(lead) {
                        damaged.append(use)
                    } else if let blob = frame.blob {
                        bodies.append((use, blob))
                    }
                    return true
                }
            }
            result.records += UInt64(seen)
            for use in damaged where try removeDamaged(use) { result.damagedRecords += 1 }
            for (use, blob) in bodies where !sound.contains(blob.digest) {
                if isDamaged(blob) {
                    guard try removeDamaged(use, blob) else { continue }
                    result.damagedRecords += 1
                    result.damagedBlobs += 1
                } else {
                    // Those that many records share are mostly close together.
                    if sound.count >= Self.mostRemembered { sound.removeAll(keepingCapacity: true) }
                    sound.insert(blob.digest)
                    result.blobs += 1
                }
            }
            if seen < Self.page { break }
        }
        try removeDeadEntries()
        try removeDeadBodies()
        try recountBlobs()
        return result
    }

    /// Removes a record that was found damaged, or its body, unless it is gone meanwhile, evicted or replaced.
    private func removeDamaged(_ use: CacheUse, _ blob: BlobReference? = nil) throws(StoreError) -> Bool {
        let outcome = writeNow { [self] (transaction, effects) throws(StoreError) in
            if let blob {
                // Once more where nobody can evict it or publish it anew.
                guard let row = try transaction.get(CacheSchema.records, use.sequence),
                    RecordFrame(row, sequence: use.sequence)?.blobDigest == blob.digest, isDamaged(blob)
                else { return .removed(0) }
                blobs.remove(blob.digest)
            }
            return .removed(try tables.remove(use, in: transaction, &effects) ? 1 : 0)
        }
        return try outcome.removedCount() > 0
    }

    /// Whether the file of a blob is gone, or does not hold what it should. One that cannot be read now is not damaged.
    private func isDamaged(_ blob: BlobReference) -> Bool {
        guard blobs.size(of: blob.digest) == blob.length else { return true }
        do throws(SystemError) {
            let file = try blobs.open(blob.digest)
            do throws(BlobError) {
                try BlobReader(reference: blob, file: file).verify()
                return false
            } catch {
                return error == .damaged
            }
        } catch {
            return error.errno == ENOENT || error.errno == ELOOP || error.errno == ENOTDIR
        }
    }

    // MARK: - Putting right what follows from the records

    /// Takes what leads to no record out of the index, a part at a time.
    private func removeDeadEntries() throws(StoreError) {
        var next: CacheDigest? = CacheDigest(0, 0)
        while let start = next {
            var wrong: [CacheDigest] = []
            var last: CacheDigest?
            try environment.read { (snapshot) throws(StoreError) in
                wrong = []
                last = nil
                var left = Self.rowsAtOnce
                try start.withBytes { (start) throws(StoreError) in
                    try snapshot.scan(CacheSchema.index, from: start) { (key, row) throws(StoreError) in
                        guard left > 0, wrong.count < Self.mostAtOnce else { return false }
                        guard key.count == CacheDigest.size else { return true }
                        left -= 1
                        let digest = CacheDigest(bytes: key)
                        last = digest
                        for entry in IndexRow(row).entries
                        where try snapshot.get(CacheSchema.records, entry.sequence) == nil {
                            wrong.append(digest)
                            break
                        }
                        return true
                    }
                }
            }
            if !wrong.isEmpty {
                _ = try writeNow { [self, wrong] (transaction, _) throws(StoreError) in
                    for digest in wrong { try tables.removeDeadEntries(of: digest, in: transaction) }
                    return .removed(0)
                }.removedCount()
            }
            next = last?.next
        }
    }

    /// Removes bodies that belong to no record, a part at a time.
    private func removeDeadBodies() throws(StoreError) {
        var position: UInt64 = 0
        var isOver = false
        while !isOver {
            var dead: [UInt64] = []
            let start = position
            try environment.read { (snapshot) throws(StoreError) in
                dead = []
                position = start
                isOver = true
                var left = Self.rowsAtOnce
                try snapshot.scan(CacheSchema.bodies, from: start) { (sequence, _) throws(StoreError) in
                    guard left > 0, dead.count < Self.mostAtOnce else {
                        isOver = false
                        return false
                    }
                    left -= 1
                    position = sequence.following
                    if try snapshot.get(CacheSchema.records, sequence) == nil { dead.append(sequence) }
                    return true
                }
            }
            // No sequence comes twice, so these cannot have got a record meanwhile.
            if dead.isEmpty { continue }
            _ = try writeNow { [dead] (transaction, _) throws(StoreError) in
                for sequence in dead { try transaction.delete(CacheSchema.bodies, sequence) }
                return .removed(0)
            }.removedCount()
        }
    }

    /// Makes the rows of blobs, and their sum, say what the records say.
    ///
    /// A snapshot holds no wrong count, whoever writes at the same time, unless something was damaged; and how far it
    /// is wrong stays the same however often it changes. So a snapshot is looked at, and the difference is put right.
    private func recountBlobs() throws(StoreError) {
        let rows = try environment.read { (snapshot) throws(StoreError) in
            try snapshot.statistics(CacheSchema.blobs).rows
        }
        // Only so many at a time, by what their digests begin with.
        let parts = UInt8(min(255, rows / UInt64(Self.mostRemembered) + 1))
        for part in 0..<parts {
            let wrong = try blobDifferences(part, of: parts)
            var rest = wrong[...]
            while !rest.isEmpty {
                let some = Array(rest.prefix(Self.mostAtOnce))
                rest = rest.dropFirst(some.count)
                _ = try writeNow { [self] (transaction, effects) throws(StoreError) in
                    for blob in some { try tables.putRight(blob, in: transaction, &effects) }
                    return .removed(0)
                }.removedCount()
            }
        }
        let excess = try environment.read { (snapshot) throws(StoreError) in
            var sum: UInt64 = 0
            try snapshot.scan(CacheSchema.blobs, from: .empty) { _, row in
                sum &+= BlobRow(row)?.length ?? 0
                return true
            }
            return
                (try snapshot.get(CacheSchema.meta, CacheCounters.key).flatMap { CacheCounters($0) }?.blobBytes ?? sum)
                &- sum
        }
        _ = try writeNow { [self] (transaction, _) throws(StoreError) in
            var counters = try tables.counters(in: transaction)
            counters.correct(by: 0 &- excess)
            // Records that seemed to wait for nothing are looked at again.
            counters.scan = 0
            try tables.save(counters, in: transaction)
            return .removed(0)
        }.removedCount()
    }

    /// The blobs whose rows do not say what the records say, in one snapshot.
    private func blobDifferences(_ part: UInt8, of parts: UInt8) throws(StoreError) -> [BlobDifference] {
        try environment.read { (snapshot) throws(StoreError) in
            var counts: [ContentDigest: BlobRow] = [:]
            try snapshot.scan(CacheSchema.records, from: 0) { sequence, row in
                guard let frame = RecordFrame(row, sequence: sequence), let blob = frame.blobDigest,
                    blob.firstByte % parts == part
                else { return true }
                counts[blob, default: BlobRow(references: 0, length: frame.bodyLength)].references += 1
                return true
            }
            var wrong: [BlobDifference] = []
            try snapshot.scan(CacheSchema.blobs, from: .empty) { key, row in
                guard key.count == ContentDigest.size else { return true }
                let digest = ContentDigest(bytes: key)
                guard digest.firstByte % parts == part else { return true }
                let (found, should) = (BlobRow(row), counts.removeValue(forKey: digest))
                if found != should {
                    let length = should?.length ?? 0
                    let difference = Int64(should?.references ?? 0) - Int64(clamping: found?.references ?? 0)
                    wrong.append(BlobDifference(digest: digest, references: difference, length: length))
                }
                return true
            }
            for (digest, row) in counts {
                wrong.append(
                    BlobDifference(digest: digest, references: Int64(row.references), length: row.length))
            }
            return wrong
        }
    }
}
/// What is to be changed in a row of `blobs`.
struct BlobDifference {
    let digest: ContentDigest
    /// To be added to the number of records.
    let references: Int64
    /// Of the body, when a record refers to it.
    let length: UInt64
}

extension CacheTables {
    /// Takes what leads to no record out of a row of the index.
    func removeDeadEntries(of digest: CacheDigest, in transaction: borrowing Transaction) throws(StoreError) {
        var row = try index(of: digest, in: transaction)
        var left: [IndexRow.Entry] = []
        for entry in row.entries where try transaction.get(CacheSchema.records, entry.sequence) != nil {
            left.append(entry)
        }
        if left.count == row.entries.count { return }
        row.entries = left
        try put(row, of: digest, in: transaction)
    }

    /// Changes the row of a blob so that it says what the records say.
    func putRight(
        _ blob: BlobDifference, in transaction: borrowing Transaction, _ effects: inout Effects
    ) throws(StoreError) {
        let row = try blob.digest.withBytes { (key) throws(StoreError) in
            try transaction.get(CacheSchema.blobs, key)
        }.flatMap { BlobRow($0) }
        let references = Int64(clamping: row?.references ?? 0).addingReportingOverflow(blob.references).partialValue
        if references > 0 {
            let length = blob.length > 0 ? blob.length : row?.length ?? 0
            return try put(BlobRow(references: UInt64(references), length: length), of: blob.digest, in: transaction)
        }
        try blob.digest.withBytes { (key) throws(StoreError) in _ = try transaction.delete(CacheSchema.blobs, key) }
        effects.orphans.append(blob.digest)
    }
}
