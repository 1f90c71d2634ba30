import TrawlHTTP

/// One range of bytes a request asks for.
///
/// - Source: RFC 9110 §14.1.2.
package enum ByteRange: Sendable, Hashable {
    /// From the first byte to the last one named, both included.
    case bounded(first: UInt64, last: UInt64)
    /// From this byte to the end.
    case from(UInt64)
    /// The last so many bytes.
    case suffix(UInt64)

    /// The range of a `Range` field, or nil when it is another unit, several ranges or not well formed.
    package init?(field value: UnsafeRawBufferPointer) {
        let text = FieldSyntax.trimmed(value)
        guard text.count > 6, text.part(0, 5).isToken("bytes"), text[5] == .equals else { return nil }
        let range = FieldSyntax.trimmed(text.part(6, text.count))
        guard let dash = range.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let last = range.part(dash + 1, range.count)
        if dash == 0 {
            guard let length = FieldSyntax.decimal(last), length > 0 else { return nil }
            self = .suffix(length)
        } else {
            guard let first = FieldSyntax.decimal(range.part(0, dash)), first < .max else { return nil }
            if last.isEmpty {
                self = .from(first)
            } else {
                guard let last = FieldSyntax.decimal(last), last >= first, last < .max else { return nil }
                self = .bounded(first: first, last: last)
            }
        }
    }

    /// Whether a `Range` field is one that is ignored: of another unit than bytes, or not well formed. Several ranges, one of
    /// no bytes and numbers of any length are well formed.
    ///
    /// - Source: RFC 9110 §14.2; §14.1.1 says what is invalid.
    static func isIgnored(_ value: UnsafeRawBufferPointer) -> Bool {
        let text = FieldSyntax.trimmed(value)
        guard text.count > 5, text.part(0, 5).isToken("bytes"), text[5] == .equals else { return true }
        let range = FieldSyntax.trimmed(text.part(6, text.count))
        if range.firstIndex(of: .comma) != nil { return false }
        guard let dash = range.firstIndex(of: UInt8(ascii: "-")), range.count > 1 else { return true }
        let (first, last) = (range.part(0, dash), range.part(dash + 1, range.count))
        guard first.allSatisfy(isDigit), last.allSatisfy(isDigit) else { return true }
        // A last byte that lies before the first.
        guard let start = FieldSyntax.decimal(first), let end = FieldSyntax.decimal(last) else { return false }
        return end < start
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// The bytes of a stored body this range means, or nil when not all of them are there or it cannot be told.
    func resolved(in body: BodyExtent) -> Range<UInt64>? {
        let range: Range<UInt64>
        switch self {
        case .bounded(let first, let last):
            // A last byte past the end means the end (RFC 9110 §14.1.2).
            let end = min(last + 1, body.total ?? .max)
            guard first < end else { return nil }
            range = first..<(body.reachesEnd ? min(end, max(first, body.range.upperBound)) : end)
        case .from(let first):
            // The server's word that a part reaches the end counts, also when the count of its bytes says otherwise.
            guard body.reachesEnd, first < body.range.upperBound else { return nil }
            range = first..<body.range.upperBound
        case .suffix(let length):
            guard body.reachesEnd else { return nil }
            let end = body.range.upperBound
            range = (end > length ? end - length : 0)..<end
        }
        guard !range.isEmpty, range.lowerBound >= body.first, range.upperBound <= body.range.upperBound else {
            return nil
        }
        return range
    }
}
