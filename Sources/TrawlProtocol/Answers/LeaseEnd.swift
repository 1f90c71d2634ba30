package import TrawlHTTP

/// The end of a lease.
package struct LeaseEnd: Sendable, Hashable {
    /// Which lease.
    package var lease: UInt64
    /// How it ended.
    package var outcome: HopOutcome
    /// The final head, unless a `head` frame brought it or none came; when the proxy failed, what it answered to
    /// CONNECT.
    package var head: ResponseHead?
    /// The trailer section.
    package var trailers = FieldLines()
    /// Content codings that were undone, the first applied first.
    package var decoded: [String] = []
    /// What the hop had to do with the cache.
    package var cache = CacheReport()
    /// Connections to the lease's origin that the worker has open now, idle or not; 0 where they are not counted.
    package var connections: UInt16 = 0
    /// What the hop took.
    package var metrics = HopMetrics()

    /// Whether it was the proxy's failure, and the head, where there is one, is the proxy's.
    package var isProxyFailure: Bool {
        if case .failed(let failure) = outcome { return failure.kind == .proxy }
        return false
    }

    /// Whether the head is in it. (Compared with nil, it would be copied.)
    package var hasHead: Bool { if case .some = head { true } else { false } }

    func write(to writer: inout WireWriter) {
        writer.write(lease)
        outcome.write(to: &writer)
        // The reader refuses it, and with it all leases of the worker.
        assert(head?.isInterim != true, "an interim head at the end of a lease")
        writer.write(hasHead)
        if let head { writer.write(head) }
        writer.write(trailers)
        writer.write(decoded)
        cache.write(to: &writer)
        writer.write(connections)
        metrics.write(to: &writer)
    }

    /// Reads an end, and makes it and its parts in one go: what is changed after it was made is copied, as is what an
    /// initializer made that can fail half-way.
    static func read(from reader: inout WireReader) throws(FrameError) -> LeaseEnd {
        let lease = try reader.uint64()
        let outcome = try HopOutcome.read(from: &reader)
        var head: ResponseHead?
        if try reader.bool() {
            let known = try reader.head()
            guard !known.isInterim else { throw .invalid(.status) }
            head = known
        }
        let trailers = try reader.fields()
        // A profile allows no more layers than a byte counts.
        let decoded = try reader.texts(atMost: Int(UInt8.max))
        let cache = try CacheReport.read(from: &reader)
        let connections = try reader.uint16()
        let metrics = try HopMetrics.read(from: &reader)
        return LeaseEnd(
            lease: lease, outcome: outcome, head: head, trailers: trailers, decoded: decoded, cache: cache,
            connections: connections, metrics: metrics)
    }
}

extension LeaseEnd {
    /// What is told in place of an end that is longer than a frame may be: the same without head, trailer section and
    /// other fields. A response without its head is none.
    package var shortened: LeaseEnd {
        var end = self
        end.head = nil
        end.trailers = FieldLines()
        end.cache.serverFields = FieldLines()
        if case .failed = outcome { return end }
        end.outcome = .failed(
            HopFailure(.headTooLarge, requestSent: true, detail: "head and trailers are longer than a frame may be"))
        return end
    }

    /// The end of that lease in all its parts but for what is known when it is told. Made in one go: what is changed
    /// after it was made is copied.
    package init(
        lease: UInt64, outcome: HopOutcome, head: ResponseHead?, trailers: FieldLines, decoded: [String],
        cache: CacheReport, metrics: HopMetrics
    ) {
        self.init(
            lease: lease, outcome: outcome, head: head, trailers: trailers, decoded: decoded, cache: cache,
            connections: 0, metrics: metrics)
    }

    /// The end of that lease.
    package init(lease: UInt64, outcome: HopOutcome, head: ResponseHead? = nil) {
        self.lease = lease
        self.outcome = outcome
        self.head = head
    }
}
