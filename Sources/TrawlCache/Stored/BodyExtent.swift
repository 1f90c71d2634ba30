/// Which bytes of a representation are stored, content codings as they were received.
package struct BodyExtent: Sendable, Hashable {
    /// The place of the first byte held within the representation; 0 when all of it is.
    package var first: UInt64
    /// How many bytes are held.
    package var length: UInt64
    /// The length of the whole representation, or nil when it is not known.
    package var total: UInt64?
    /// Whether all of the representation is held.
    package var isComplete: Bool
    /// Whether a part runs up to the representation's end, as the server said.
    package var reachesEnd: Bool

    private init(first: UInt64, length: UInt64, total: UInt64?, isComplete: Bool, reachesEnd: Bool) {
        self.first = first
        self.length = length
        self.total = total
        self.isComplete = isComplete
        self.reachesEnd = reachesEnd
    }

    /// A whole representation.
    package static func complete(length: UInt64) -> BodyExtent {
        BodyExtent(first: 0, length: length, total: length, isComplete: true, reachesEnd: true)
    }

    /// A part of one, from `first` on; `nil` when it would reach past the end of what numbers hold.
    package static func part(first: UInt64, length: UInt64, total: UInt64?, reachesEnd: Bool) -> BodyExtent? {
        let (end, overflow) = first.addingReportingOverflow(length)
        guard !overflow, total.map({ end <= $0 }) ?? true else { return nil }
        return BodyExtent(
            first: first, length: length, total: total, isComplete: false,
            reachesEnd: reachesEnd || total == end)
    }

    /// The bytes held, by their places in the representation.
    package var range: Range<UInt64> { first..<(first + length) }

    /// Whether every byte of another extent of the same representation is held.
    func holds(_ other: BodyExtent) -> Bool {
        isComplete || first <= other.first && range.upperBound >= other.range.upperBound
    }
}
