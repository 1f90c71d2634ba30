/// A row of the table `index`: the records of one cache key, newest last.
///
/// Bytes of a damaged row are taken as they are: a record is believed by its own checksum, digest and sequence, and an
/// order or slot that is wrong decides only what is evicted next.
struct IndexRow: Equatable {
    struct Entry: Equatable {
        var sequence: UInt64
        /// Its key in the table `recency`; zero while it has none, and its sequence tells its place.
        var order: UInt64 = 0
        /// Where its last use is noted.
        var slot: UInt64

        /// Lends the bytes of the entry.
        func withBytes<Result, Failure: Error>(
            _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            var words = (sequence.littleEndian, order.littleEndian, slot.littleEndian)
            return try withUnsafeBytes(of: &words) { (bytes) throws(Failure) in try body(bytes) }
        }
    }

    /// The most records of one cache key: past that the oldest goes.
    static let mostEntries = 32
    /// The most bytes that their rows in `records` have together, but for one that is longer by itself: each look-up
    /// checks all of them, and how long heads are, and by what they vary, is the server's choice.
    static let mostBytes = 256 << 10
    static let entrySize = 24

    var entries: [Entry] = []

    init() {}

    /// Reads a row; what is no whole entry is left out.
    init(_ bytes: UnsafeRawBufferPointer) {
        let count = min(bytes.count / Self.entrySize, Self.mostEntries)
        entries.reserveCapacity(count + 1)
        for index in 0..<count { entries.append(Self.entry(at: index, of: bytes)) }
    }

    /// An entry of a row, read in place.
    @inline(__always)
    static func entry(at index: Int, of bytes: UnsafeRawBufferPointer) -> Entry {
        let start = index * entrySize
        return Entry(
            sequence: bytes.number(at: start), order: bytes.number(at: start + 8), slot: bytes.number(at: start + 16))
    }

    /// Lends the bytes of the row.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeTemporaryAllocation(
            byteCount: entries.count * Self.entrySize, alignment: 8
        ) { (row) throws(Failure) in
            for (index, entry) in entries.enumerated() {
                row.put(entry.sequence, at: index * Self.entrySize)
                row.put(entry.order, at: index * Self.entrySize + 8)
                row.put(entry.slot, at: index * Self.entrySize + 16)
            }
            return try body(UnsafeRawBufferPointer(row))
        }
    }
}
