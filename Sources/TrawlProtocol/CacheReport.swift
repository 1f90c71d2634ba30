/// What a hop had to do with the cache.
package struct CacheReport: Sendable, Hashable {
    /// Where the answer came from.
    package enum Source: UInt8, Sendable, Hashable, CaseIterable {
        /// The server.
        case network
        /// The store, without asking.
        case cache
        /// The store, after the server said that it is still right.
        case revalidated
        /// The store, although stale.
        case stale
    }

    /// Where the answer came from.
    package var source = Source.network
    /// Whether the answer is in the store now, or newer there than before.
    package var isStored = false
    /// Whether what was served should be validated now, with nobody waiting (RFC 5861 §3).
    package var wantsRevalidation = false

    /// Nothing.
    package init() {}

    func write(to writer: inout WireWriter) {
        writer.write(source.rawValue | (isStored ? 0x10 : 0) | (wantsRevalidation ? 0x20 : 0))
    }

    init(from reader: inout WireReader) throws(FrameError) {
        let bits = try reader.byte()
        guard let source = Source(rawValue: bits & 0xF), bits & 0xC0 == 0 else { throw .invalid(.cache) }
        self.source = source
        isStored = bits & 0x10 != 0
        wantsRevalidation = bits & 0x20 != 0
    }
}
