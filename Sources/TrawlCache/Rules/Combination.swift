/// How a stored part and a part that came later make one.
package struct Combination: Sendable, Hashable {
    /// The result: head, times and body description.
    package var response: StoredResponse
    /// The pieces of the new body, in order.
    package var pieces: [Piece]
    /// Whether the result may be stored, or is for the caller alone.
    package var mayBeStored = true

    /// A stretch of the new body.
    package enum Piece: Sendable, Hashable {
        /// Bytes of the stored body, counted from its first byte.
        case stored(Range<UInt64>)
        /// Bytes of the body that came, counted from its first byte.
        case received(Range<UInt64>)
    }
}
