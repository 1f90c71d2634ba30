/// A coordinator's lifetime, as far as stores are concerned: 128 bits that no other has.
package struct SessionID: Sendable, Hashable {
    /// Its first half: by this alone cookies are marked.
    package let first: UInt64
    /// Its last half.
    package let last: UInt64

    /// An identifier of its halves.
    package init(_ first: UInt64, _ last: UInt64) {
        self.first = first
        self.last = last
    }
}
