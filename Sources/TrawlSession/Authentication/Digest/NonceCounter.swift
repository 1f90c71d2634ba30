/// The counts of one nonce: each is handed out once.
///
/// A nonce belongs to one coordinator, which alone keeps the counter: one count for each hop, or a block of them for a
/// worker that answers challenges itself. Servers that want counts without gaps take blocks for replays and answer with
/// `stale`, so single counts are the rule.
///
/// - Source: RFC 7616 §3.4 (`nc`), §5.5 (replays).
package struct NonceCounter: Sendable, Hashable {
    /// The nonce that is counted.
    package let nonce: [UInt8]
    /// The last count that was handed out.
    private var last: UInt32 = 0

    /// A nonce of which no count was used.
    package init(nonce: [UInt8]) {
        self.nonce = nonce
    }

    /// The next count, from 1; nil when all eight digits are used up and a new nonce is needed.
    package mutating func next() -> UInt32? {
        guard last < .max else { return nil }
        last += 1
        return last
    }

    /// The next counts, as many as wanted or are left; nil when none is.
    package mutating func block(of count: UInt32) -> NonceBlock? {
        let count = min(count, .max - last)
        guard count > 0 else { return nil }
        let block = NonceBlock(nonce: nonce, first: last + 1, count: count)
        last += count
        return block
    }
}

/// Counts of a nonce that belong to whoever holds the block, and to nobody else. It cannot be copied.
package struct NonceBlock: ~Copyable, Sendable {
    /// The nonce that is counted.
    package let nonce: [UInt8]
    /// The next count to use.
    package private(set) var first: UInt32
    /// How many are left.
    package private(set) var count: UInt32

    /// Counts that a counter handed out, as they came in a lease; nil when there can be no such block.
    package init?(nonce: [UInt8], startingAt first: UInt32, count: UInt32) {
        guard first > 0, count > 0, count - 1 <= .max - first else { return nil }
        self.init(nonce: nonce, first: first, count: count)
    }

    fileprivate init(nonce: [UInt8], first: UInt32, count: UInt32) {
        self.nonce = nonce
        self.first = first
        self.count = count
    }

    /// The next count, or nil when all are used.
    package mutating func next() -> UInt32? {
        guard count > 0 else { return nil }
        let number = first
        count -= 1
        if count > 0 { first += 1 }
        return number
    }
}
