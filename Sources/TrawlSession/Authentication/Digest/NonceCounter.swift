/// The counts of one nonce: each is handed out once.
///
/// A nonce belongs to one coordinator, which alone keeps the counter: one count for each hop. Servers want counts
/// without gaps: those that find some take the requests for replays, and answer with `stale`.
///
/// - Source: RFC 7616 §3.4 (`nc`), §5.5 (replays).
package struct NonceCounter: Sendable, Hashable {
    /// The nonce that is counted.
    package let nonce: [UInt8]
    /// The last count that was handed out.
    private var last: UInt32

    /// A nonce of which no count was used, or those up to one were.
    package init(nonce: [UInt8], after last: UInt32 = 0) {
        self.nonce = nonce
        self.last = last
    }

    /// The next count, from 1; nil when all eight digits are used up and a new nonce is needed.
    package mutating func next() -> UInt32? {
        guard last < .max else { return nil }
        last += 1
        return last
    }
}
