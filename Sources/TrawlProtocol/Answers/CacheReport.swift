package import TrawlHTTP

/// What a hop had to do with the cache.
package struct CacheReport: Sendable, Hashable {
    /// Where the answer came from.
    package var source = ResultSource.network
    /// Whether the answer is in the store now, or newer there than before.
    package var isStored = false
    /// Whether what was served should be validated now, with nobody waiting (RFC 5861 §3).
    package var wantsRevalidation = false
    /// Whether cookies could not be stored, of this response or one just before.
    package var hasLostCookies = false

    /// Nothing.
    package init() {}

    /// Whether the answer is in the store: it is there now, or came from there.
    package var isInStore: Bool {
        if case .network = source { isStored } else { true }
    }

    func write(to writer: inout WireWriter) {
        writer.write(
            source.rawValue | (isStored ? 0x10 : 0) | (wantsRevalidation ? 0x20 : 0) | (hasLostCookies ? 0x40 : 0))
    }

    init(from reader: inout WireReader) throws(FrameError) {
        let bits = try reader.byte()
        guard let source = ResultSource(rawValue: bits & 0xF), bits & 0x80 == 0 else { throw .invalid(.cache) }
        self.source = source
        isStored = bits & 0x10 != 0
        wantsRevalidation = bits & 0x20 != 0
        hasLostCookies = bits & 0x40 != 0
    }
}
