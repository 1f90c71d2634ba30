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
    /// Of the server's response, where what is stored answers in its place, as after a 304, the lines that the
    /// coordinator has to see: `Strict-Transport-Security`, and `Set-Cookie` when the profile names no state, since the
    /// jar is the coordinator's then.
    package var serverFields = FieldLines()

    /// Nothing.
    package init() {}

    /// Whether the answer is in the store: it is there now, or came from there.
    package var isInStore: Bool {
        if case .network = source { isStored } else { true }
    }

    func write(to writer: inout WireWriter) {
        var bits = source.rawValue
        if isStored { bits |= 0x10 }
        if wantsRevalidation { bits |= 0x20 }
        if hasLostCookies { bits |= 0x40 }
        if !serverFields.isEmpty { bits |= 0x80 }
        writer.write(bits)
        if !serverFields.isEmpty { writer.write(serverFields) }
    }

    static func read(from reader: inout WireReader) throws(FrameError) -> CacheReport {
        let bits = try reader.byte()
        guard let source = ResultSource(rawValue: bits & 0xF) else { throw .invalid(.cache) }
        let hasFields = bits & 0x80 != 0
        let fields = hasFields ? try reader.fields() : FieldLines()
        guard !hasFields || !fields.isEmpty && source != .network else { throw .invalid(.cache) }
        return CacheReport(source, bits: bits, serverFields: fields)
    }

    /// Of what a frame says, which has been checked.
    private init(_ source: ResultSource, bits: UInt8, serverFields: FieldLines) {
        self.source = source
        isStored = bits & 0x10 != 0
        wantsRevalidation = bits & 0x20 != 0
        hasLostCookies = bits & 0x40 != 0
        self.serverFields = serverFields
    }
}
