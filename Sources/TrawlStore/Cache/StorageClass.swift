/// A coordinator's lifetime, as far as the cache is concerned: 16 bytes that no other has.
package struct SessionID: Hashable, Sendable {
    /// Bytes of an identifier.
    package static let size = 16

    let words: (UInt64, UInt64)

    /// An identifier whose bytes are those of two numbers as they lie in memory.
    package init(_ first: UInt64, _ last: UInt64) {
        words = (first, last)
    }

    /// Reads 16 bytes.
    package init(bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Self.size, "a session's identifier has 16 bytes")
        words = bytes.loadUnaligned(as: (UInt64, UInt64).self)
    }

    /// A new one.
    package static func make() -> SessionID {
        SessionID(.random(in: 1...(.max)), .random(in: .min ... .max))
    }

    package static func == (one: SessionID, other: SessionID) -> Bool {
        one.words == other.words
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }

    /// Lends the 16 bytes.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var copy = words
        return try withUnsafeBytes(of: &copy) { (bytes) throws(Failure) in try body(bytes) }
    }
}

/// How long a record may stay.
package enum StorageClass: Hashable, Sendable {
    /// Until it is evicted or removed.
    case permanent
    /// Until the coordinator that stored it ends its session, or another sees that it is dead.
    case session(SessionID)
}
