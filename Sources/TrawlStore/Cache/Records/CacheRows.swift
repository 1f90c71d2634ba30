import TrawlHTTP

/// A row of the table `blobs`.
struct BlobRow: Equatable {
    static let size = 16

    /// Records that refer to the blob; a row has at least one.
    var references: UInt64
    /// Bytes of the body.
    var length: UInt64

    init(references: UInt64, length: UInt64) {
        self.references = references
        self.length = length
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        // What is beyond any disk is damage, and must not make sums overflow.
        references = min(bytes.number(at: 0), 1 << 50)
        length = min(bytes.number(at: 8), 1 << 50)
    }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var row = (references.littleEndian, length.littleEndian)
        return try withUnsafeBytes(of: &row) { (bytes) throws(Failure) in try body(bytes) }
    }
}

/// A row of the table `recency`: whose last use the tick is.
enum RecencyRow {
    static let size = CacheDigest.size + 8

    static func read(_ bytes: UnsafeRawBufferPointer) -> CacheUse? {
        guard bytes.count == size else { return nil }
        return CacheUse(
            digest: CacheDigest(bytes.number(at: 0), bytes.number(at: 8)), sequence: bytes.number(at: 16))
    }

    static func write(_ use: CacheUse, to row: UnsafeMutableRawBufferPointer) {
        row.put(use.digest.words.0, at: 0)
        row.put(use.digest.words.1, at: 8)
        row.put(use.sequence, at: 16)
    }
}

/// A key of the table `scoped`: a session and, with the highest byte first, a sequence, so that one session's stand
/// together and in order.
struct ScopedKey {
    static let size = SessionID.size + 8

    private let words: (UInt64, UInt64, UInt64)

    init(_ session: SessionID, _ sequence: UInt64) {
        words = (session.first.littleEndian, session.last.littleEndian, sequence.bigEndian)
    }

    static func read(_ bytes: UnsafeRawBufferPointer) -> (session: SessionID, sequence: UInt64)? {
        guard bytes.count == size else { return nil }
        return (SessionID(bytes.number(at: 0), bytes.number(at: 8)), bytes.number(at: 16).byteSwapped)
    }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var copy = words
        return try withUnsafeBytes(of: &copy) { (bytes) throws(Failure) in try body(bytes) }
    }
}

extension UnsafeRawBufferPointer {
    /// No bytes.
    static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
