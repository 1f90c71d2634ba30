/// What a stored response is looked up by: 16 bytes of a digest of its cache key.
///
/// The first eight are a digest of the key's origin, so that what is stored of one origin stands together.
///
/// Two keys may have one digest; whoever reads a record compares the full key, which is in the record's header.
package struct CacheDigest: Hashable, Sendable {
    /// Bytes of a digest.
    package static let size = 16

    /// The first and the last eight bytes, as they lie in memory.
    package let words: (UInt64, UInt64)

    /// Reads 16 bytes.
    package init(bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Self.size, "a digest of a cache key has 16 bytes")
        words = bytes.loadUnaligned(as: (UInt64, UInt64).self)
    }

    /// A digest whose bytes are those of two numbers as they lie in memory.
    package init(_ first: UInt64, _ last: UInt64) {
        words = (first, last)
    }

    /// The next digest in the order of bytes; nil after the last.
    package var next: CacheDigest? {
        let (first, last) = (words.0.bigEndian, words.1.bigEndian)
        if last < .max { return CacheDigest(words.0, (last + 1).bigEndian) }
        return first < .max ? CacheDigest((first + 1).bigEndian, 0) : nil
    }

    package static func == (one: CacheDigest, other: CacheDigest) -> Bool {
        one.words == other.words
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }

    /// Lends the 16 bytes.
    @inline(__always)
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var copy = words
        return try withUnsafeBytes(of: &copy) { (bytes) throws(Failure) in try body(bytes) }
    }
}
