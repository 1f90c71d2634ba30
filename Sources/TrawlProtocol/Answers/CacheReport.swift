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
    /// What came of asking the server in whose answer's place what is stored answers.
    package var exchange = Exchange.unasked
    /// Of the server's response, where what is stored answers in its place, as after a 304, the lines that the
    /// coordinator has to see: `Strict-Transport-Security`; `Set-Cookie` when the profile names no state, since the jar
    /// is the coordinator's then; and with a `Retry-After` that every request to the origin has to heed, that and
    /// `Date`.
    package var serverFields = FieldLines()

    /// What comes of asking a server.
    package enum Exchange: Sendable, Hashable {
        /// None was asked.
        case unasked
        /// It answered with this status.
        case answered(status: UInt16)
        /// It failed: as in `HopFailure`, and whether a final head had come.
        case failed(HopFailure.Kind, systemError: Int32, requestSent: Bool, hasHead: Bool)

        /// Whether the answer may say how long all are to keep away from its origin.
        package var mayAskForRest: Bool {
            guard case .answered(let status) = self, case .origin = RetryAfter.reach(of: status) else { return false }
            return true
        }

        fileprivate var bits: UInt8 {
            switch self {
            case .unasked: 0
            case .answered: 0x4
            case .failed: 0x8
            }
        }

        fileprivate func write(to writer: inout WireWriter) {
            switch self {
            case .unasked: break
            case .answered(let status): writer.write(status)
            case .failed(let kind, let systemError, let requestSent, let hasHead):
                writer.write(kind.rawValue)
                writer.write(systemError)
                writer.write(requestSent)
                writer.write(hasHead)
            }
        }

        fileprivate static func read(_ bits: UInt8, from reader: inout WireReader) throws(FrameError) -> Exchange {
            switch bits & 0xC {
            case 0: return .unasked
            case 0x4:
                let status = try reader.uint16()
                guard (200...999).contains(status) else { throw .invalid(.status) }
                return .answered(status: status)
            case 0x8:
                guard let kind = HopFailure.Kind(rawValue: try reader.byte()) else { throw .invalid(.failure) }
                return .failed(
                    kind, systemError: try reader.int32(), requestSent: try reader.bool(), hasHead: try reader.bool())
            default: throw .invalid(.cache)
            }
        }
    }

    /// Nothing.
    package init() {}

    /// Whether the answer is in the store: it is there now, or came from there.
    package var isInStore: Bool {
        if case .network = source { isStored } else { true }
    }

    func write(to writer: inout WireWriter) {
        var bits = source.rawValue | exchange.bits
        if isStored { bits |= 0x10 }
        if wantsRevalidation { bits |= 0x20 }
        if hasLostCookies { bits |= 0x40 }
        if !serverFields.isEmpty { bits |= 0x80 }
        writer.write(bits)
        exchange.write(to: &writer)
        if !serverFields.isEmpty { writer.write(serverFields) }
    }

    static func read(from reader: inout WireReader) throws(FrameError) -> CacheReport {
        let bits = try reader.byte()
        guard let source = ResultSource(rawValue: bits & 0x3) else { throw .invalid(.cache) }
        let exchange = try Exchange.read(bits, from: &reader)
        let hasFields = bits & 0x80 != 0
        let fields = hasFields ? try reader.fields() : FieldLines()
        guard source != .network || !hasFields && bits & 0xC == 0, !hasFields || !fields.isEmpty else {
            throw .invalid(.cache)
        }
        return CacheReport(source, bits: bits, exchange: exchange, serverFields: fields)
    }

    /// Of what a frame says, which has been checked.
    private init(_ source: ResultSource, bits: UInt8, exchange: Exchange, serverFields: FieldLines) {
        self.source = source
        isStored = bits & 0x10 != 0
        wantsRevalidation = bits & 0x20 != 0
        hasLostCookies = bits & 0x40 != 0
        self.exchange = exchange
        self.serverFields = serverFields
    }
}
