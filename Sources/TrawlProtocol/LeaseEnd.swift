package import TrawlHTTP

/// The end of a lease.
package struct LeaseEnd: Sendable, Hashable {
    /// Which lease.
    package var lease: UInt64
    /// How it ended.
    package var outcome: HopOutcome
    /// The final head, unless a `head` frame brought it or none came.
    package var head: ResponseHead?
    /// The trailer section.
    package var trailers = FieldLines()
    /// Content codings that were undone, the first applied first.
    package var decoded: [String] = []
    /// What the hop took.
    package var metrics = HopMetrics()

    /// The end of that lease.
    package init(lease: UInt64, outcome: HopOutcome, head: ResponseHead? = nil) {
        self.lease = lease
        self.outcome = outcome
        self.head = head
    }

    func write(to writer: inout WireWriter) {
        writer.write(lease)
        outcome.write(to: &writer)
        writer.write(head != nil)
        if let head { writer.write(head) }
        writer.write(trailers)
        writer.write(decoded)
        metrics.write(to: &writer)
    }

    init(from reader: inout WireReader) throws(FrameError) {
        lease = try reader.uint64()
        outcome = try HopOutcome(from: &reader)
        if try reader.bool() {
            let head = try reader.head()
            guard !head.isInterim else { throw .invalid(.status) }
            self.head = head
        }
        trailers = try reader.fields()
        // A profile allows no more layers than a byte counts.
        decoded = try reader.texts(atMost: Int(UInt8.max))
        metrics = try HopMetrics(from: &reader)
    }
}
