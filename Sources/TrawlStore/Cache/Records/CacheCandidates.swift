/// The records of one cache key, as a snapshot has them. Valid only inside the closure that is given it.
package struct CacheCandidates: ~Copyable {
    struct Row {
        let entry: IndexRow.Entry
        let bytes: UnsafeRawBufferPointer
    }

    let store: CacheStore
    let snapshot: Snapshot.Handle
    let digest: CacheDigest
    let rows: UnsafeBufferPointer<Row>

    /// How many there are, damaged ones among them.
    package var count: Int { rows.count }

    /// The sequence of one of them, damaged or not.
    func sequence(at index: Int) -> UInt64 { rows[index].entry.sequence }

    /// One of them; 0 is the newest.
    ///
    /// - Returns: Nothing when a byte of its head is not what was written. Such a record will be removed.
    package func record(at index: Int) -> StoredRecord? {
        let row = rows[index]
        guard let frame = RecordFrame(row.bytes, sequence: row.entry.sequence), frame.digest == digest else {
            store.noteDamage(CacheUse(digest: digest, sequence: row.entry.sequence))
            return nil
        }
        return StoredRecord(store: store, snapshot: snapshot, frame: frame, slot: row.entry.slot)
    }
}

/// A stored response whose head is what was written. Valid only inside the closure that was given its candidates.
package struct StoredRecord {
    let store: CacheStore
    let snapshot: Snapshot.Handle
    let frame: RecordFrame
    let slot: UInt64

    /// The header, opaque here.
    package var header: UnsafeRawBufferPointer { frame.header }
    /// Bytes of the body.
    package var bodyLength: UInt64 { frame.bodyLength }
    /// When it was stored, in milliseconds since 1970.
    package var stored: UInt64 { frame.stored }
    /// How long it may stay.
    package var storageClass: StorageClass { frame.storageClass }
    /// What to keep, to say later that this record was used, or is to be changed or removed.
    package var use: CacheUse { CacheUse(digest: frame.digest, sequence: frame.sequence, slot: slot) }

    /// The body: a copy, or an open file.
    ///
    /// - Returns: Nothing when it is damaged or its file is gone: a miss. Such a record will be removed.
    package func body() -> StoredBody? {
        do throws(BodyLoss) { return try load() } catch { return nil }
    }

    /// The same, for who is to be told why it is not to be had.
    package func load() throws(BodyLoss) -> StoredBody {
        if let reference = frame.blob {
            let reader = try store.openBlob(reference, of: use)
            return .blob(reader)
        }
        do throws(StoreError) {
            let lead = frame.place == .apart ? try snapshot.snapshot.get(CacheSchema.bodies, frame.sequence) : nil
            if let bytes = frame.body(lead) { return .bytes(bytes) }
        } catch {
            // The environment is damaged, and will be made anew.
            throw BodyLoss.unreadable(error)
        }
        store.noteDamage(use)
        throw .damaged
    }
}

/// Why a stored body is not to be had.
package enum BodyLoss: Error, Equatable, Sendable {
    /// Its record was removed meanwhile.
    case gone
    /// It is not what was stored, or its file is not there. The record will be removed.
    case damaged
    /// It cannot be read now.
    case unreadable(StoreError)
}

/// A stored body, on its own.
package enum StoredBody: Sendable {
    case bytes([UInt8])
    /// In a file, which stays readable whatever becomes of its record.
    case blob(BlobReader)

    /// Bytes of the body.
    package var length: UInt64 {
        switch self {
        case .bytes(let bytes): UInt64(bytes.count)
        case .blob(let blob): blob.length
        }
    }
}
