/// The tables of the cache environment; docs/storage.md gives their bytes.
enum CacheSchema {
    /// The version of everything in the environment. An older one is thrown away.
    static let format: UInt32 = 3

    /// Sequence to framed record, appended.
    static let records = Table(0, "records", .integers)
    /// Digest of a cache key to its records.
    static let index = Table(1, "index", .bytes, longestKey: CacheDigest.size)
    /// Tick of a use to the digest and sequence of the record used: its place among those to be evicted, once it was
    /// found to have been used since it was stored.
    static let recency = Table(2, "recency", .integers)
    /// Digest of a blob to how many records refer to it, and its length.
    static let blobs = Table(3, "blobs", .bytes, longestKey: ContentDigest.size)
    /// Session and sequence of each record that ends with its session.
    static let scoped = Table(4, "scoped", .bytes, longestKey: ScopedKey.size)
    /// One row: the counters.
    static let meta = Table(5, "meta", .integers)

    /// Sequence to the body of its record, appended; of bodies that are neither short nor in blobs.
    static let bodies = Table(6, "bodies", .integers)

    static let tables = [records, index, recency, blobs, scoped, meta, bodies]
}

/// What the store counts, in the one row of the table `meta`.
struct CacheCounters: Equatable {
    static let key: UInt64 = 0
    static let size = 40
    /// No tick comes near to this: what is beyond is damage, and behind it there would be no numbers left.
    static let mostTicks: UInt64 = 1 << 62
    /// The same for bytes: sums of this and of any number of pages stay numbers.
    private static let mostBytes: UInt64 = 1 << 60

    /// What the next sequence is at least; more when there were uses since, for both are ticks of one clock.
    var next: UInt64 = 1
    /// Bytes of all blobs that records refer to.
    private(set) var blobBytes: UInt64 = 0
    /// No record before this one waits to be evicted by its sequence: they are gone, or have their place in `recency`.
    var scan: UInt64 = 0
    /// The next slot for the uses of a record.
    var slot: UInt64 = 0

    init() {}

    /// Reads the row; nothing when it is damaged.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size,
            Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[8...])) == bytes.number(at: 0)
        else { return nil }
        next = bytes.number(at: 8)
        guard next < Self.mostTicks else { return nil }
        blobBytes = min(bytes.number(at: 16), Self.mostBytes)
        scan = bytes.number(at: 24)
        slot = bytes.number(at: 32)
    }

    /// Lends the bytes of the row.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 8) { (bytes) throws(Failure) in
            bytes.put(next, at: 8)
            bytes.put(blobBytes, at: 16)
            bytes.put(scan, at: 24)
            bytes.put(slot, at: 32)
            bytes.put(Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[8...])), at: 0)
            return try body(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Counts a blob in.
    mutating func add(_ blob: BlobRow) {
        blobBytes = min(blobBytes + blob.length, Self.mostBytes)
    }

    /// There is no blob any more.
    mutating func forgetBlobs() { blobBytes = 0 }

    /// Changes the sum by what it is wrong: by a difference of two numbers, which may be below zero.
    mutating func correct(by difference: UInt64) {
        blobBytes = min(blobBytes &+ difference, Self.mostBytes)
    }

    /// Counts a blob out.
    mutating func remove(_ blob: BlobRow) {
        blobBytes -= min(blobBytes, blob.length)
    }

    /// A slot for a record.
    mutating func takeSlot() -> UInt64 {
        defer { slot &+= 1 }
        return slot
    }
}
