import TrawlHTTP
import TrawlProtocol

/// The interim heads (1xx) of a fetch, in the order they came: those of redirects, of attempts that failed and of challenges
/// before the answer's own.
///
/// Of a lease no more are taken than a worker may pass on, and of all leases together no more are kept, the first ones.
struct InterimHeads: Sendable {
    private struct Entry {
        let head: Response.ResponseHead
        let lease: UInt64

        /// Whether it is within the allowance.
        func fits(_ allowance: inout InterimAllowance) -> Bool {
            allowance.admits(
                TrawlHTTP.ResponseHead(status: 100, version: .http1_1, reason: head.phrase, fields: head.fields.lines))
        }
    }

    private var entries: [Entry] = []

    /// None.
    init() {}

    /// As the answer has them.
    var heads: [Response.ResponseHead] { entries.isEmpty ? [] : Self.kept(entries).map(\.head) }

    /// Takes one of a lease that is no older than those before.
    ///
    /// - Returns: False when the lease had all that it may have; then it is not taken.
    mutating func append(_ head: Response.ResponseHead, of lease: UInt64) -> Bool {
        // Those of the lease before are no longer counted one by one.
        if let last = entries.last, last.lease != lease { entries = Self.kept(entries) }
        let entry = Entry(head: head, lease: lease)
        var allowance = InterimAllowance()
        for other in entries where other.lease == lease { _ = other.fits(&allowance) }
        guard entry.fits(&allowance) else { return false }
        entries.append(entry)
        return true
    }

    /// Takes those of a fetch that is a hop of this one.
    mutating func append(contentsOf heads: [Response.ResponseHead]) {
        if heads.isEmpty { return }
        entries = Self.kept(entries + heads.map { Entry(head: $0, lease: 0) })
    }

    private static func kept(_ entries: [Entry]) -> [Entry] {
        var allowance = InterimAllowance()
        return entries.filter { $0.fits(&allowance) }
    }
}
