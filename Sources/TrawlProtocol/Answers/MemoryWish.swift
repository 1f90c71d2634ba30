/// What a transfer needs to go on with a body that is kept in memory.
package struct MemoryWish: Sendable, Hashable {
    /// The bytes there are, which are more than there was room for when one step of decoding brought them.
    package var holding: UInt64
    /// The bytes it wants to have room for in all.
    package var total: UInt64
    /// Whether that is all of the body.
    package var isWhole: Bool

    /// A wish of its parts.
    package init(holding: UInt64, total: UInt64, isWhole: Bool) {
        self.holding = holding
        self.total = total
        self.isWhole = isWhole
    }
}
