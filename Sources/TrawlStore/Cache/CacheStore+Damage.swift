import Glibc
import TrawlPlatform

/// What turns out to be damaged when it is read: a miss, and removed.
///
/// Who finds damage only reports it. When the store thread comes to it, what was reported may be gone, and something
/// sound in its place, since others remove and store meanwhile: so it looks again, under the writer lock.
extension CacheStore {
    /// Notes that a record is to be removed because it cannot be served.
    func noteDamage(_ use: CacheUse) {
        let isNew = pending.withLock { pending in
            !pending.isClosed && pending.damaged.count < 1024 && pending.damaged.insert(use).inserted
        }
        if !isNew { return }
        submit(.removeDamaged(use), .soon) { [self] _ in
            pending.withLock { _ = $0.damaged.remove(use) }
        }
    }

    /// Opens a blob for a record.
    func openBlob(_ reference: BlobReference, of use: CacheUse) throws(BodyLoss) -> BlobReader {
        do throws(SystemError) {
            let file = try blobs.open(reference.digest)
            return BlobReader(reference: reference, file: file)
        } catch {
            // Too many open files are no damage.
            guard error.errno == ENOENT || error.errno == ELOOP || error.errno == ENOTDIR else {
                throw BodyLoss.unreadable(.from(error))
            }
            // Nor is it where the record went first, after the snapshot in which it was found.
            guard isStored(use) else { throw BodyLoss.gone }
            noteDamage(use)
            throw BodyLoss.damaged
        }
    }

    /// Whether a record is there now.
    private func isStored(_ use: CacheUse) -> Bool {
        do throws(StoreError) {
            return try environment.read { (snapshot) throws(StoreError) in
                try snapshot.get(CacheSchema.records, use.sequence) != nil
            }
        } catch {
            return false
        }
    }

    /// Removes a blob that turned out to be damaged while it was read, and the record that led to it: a `BlobReader`
    /// threw `damaged`. Other records of the same body remove themselves when they are read.
    ///
    /// Only the file goes that the reader has open. Where the same body was stored anew meanwhile, that one stays.
    package func reportDamage(of reader: BlobReader, _ use: CacheUse) {
        submit(.removeDamaged(use, reader), .soon) { _ in }
    }

    /// Removes what was found damaged, if it still is: whether a record went.
    func removeDamaged(
        _ use: CacheUse, _ reader: BlobReader?, in transaction: borrowing Transaction,
        _ effects: inout CacheTables.Effects
    ) throws(StoreError) -> Bool {
        // Its length says nothing, and the name may lead to it still, where it may not be taken away.
        if let reader, blobs.remove(reader) { return try tables.remove(use, in: transaction, &effects) }
        guard try isDamaged(use, in: transaction) else { return false }
        return try tables.remove(use, in: transaction, &effects)
    }

    /// Whether there is no sound record, or not all of its body; of a blob only the length is looked at.
    private func isDamaged(_ use: CacheUse, in transaction: borrowing Transaction) throws(StoreError) -> Bool {
        guard let row = try transaction.get(CacheSchema.records, use.sequence),
            let frame = RecordFrame(row, sequence: use.sequence), frame.digest == use.digest
        else { return true }
        switch frame.place {
        case .inline:
            return false
        case .apart:
            let lead = try transaction.get(CacheSchema.bodies, use.sequence)
            return !frame.isSound(lead)
        case .blob:
            return frame.blobDigest.flatMap { blobs.size(of: $0) } != frame.bodyLength
        }
    }
}
