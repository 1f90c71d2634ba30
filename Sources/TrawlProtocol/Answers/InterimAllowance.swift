package import TrawlHTTP

/// How much a server may say ahead of its response: what a worker passes on of the interim heads of one lease, and what
/// a coordinator takes.
///
/// RFC 9110 §15.2 sets no bound on their number. The first tell enough, and they wait in memory for whoever reads them.
package struct InterimAllowance: Sendable, Hashable {
    /// The most heads for one lease.
    package static let heads = 64
    /// The most bytes of their field lines, in the packed form, and reason phrases together.
    package static let bytes = 64 << 10

    private var headsLeft = Self.heads
    private var bytesLeft = Self.bytes

    /// An allowance of which nothing is used.
    package init() {}

    /// Whether the next head is within the allowance; what was refused once leaves room for a smaller one.
    package mutating func admits(_ head: ResponseHead) -> Bool {
        let cost = head.fields.packed.count + head.reason.utf8.count
        guard headsLeft > 0, cost <= bytesLeft else { return false }
        headsLeft -= 1
        bytesLeft -= cost
        return true
    }
}
