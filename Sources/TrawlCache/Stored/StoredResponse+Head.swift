package import TrawlHTTP

extension StoredView {
    /// The head a caller gets, with its generated `Age`.
    ///
    /// - Throws: When the record is damaged.
    package func head(as reuse: Reuse) throws(RecordError) -> ResponseHead {
        guard let reason = FieldLines.utf8Text(reason),
            let head = Presentation.head(
                fields, status: facts.status, version: facts.version, reason: reason, body: facts.body, as: reuse)
        else { throw .invalid }
        return head
    }
}

extension StoredResponse {
    /// The head a caller gets, with its generated `Age`.
    package func head(as reuse: Reuse) -> ResponseHead {
        if reuse.form == .whole || reuse.form == .headOnly {
            guard let age = reuse.age else { return head }
            var head = head
            head.fields.add("Age", "\(max(0, age))")
            return head
        }
        return head.fields.packed.withUnsafeBytes {
            Presentation.head(
                $0, status: head.status, version: head.version, reason: head.reason, body: facts.body, as: reuse)
        } ?? head
    }
}

extension ResponseHead {
    /// The longest reason phrase and fields, as they are packed, that are stored: no head that arrives has as many, but each
    /// validation may bring new ones.
    static let longestStored = 2 << 20

    /// Whether it is longer than may be stored.
    var isTooLongToStore: Bool { reason.utf8.count + fields.packed.count > Self.longestStored }
}

/// Makes the heads that callers get of stored ones.
private enum Presentation {
    /// Nil when the packed fields are not what they should be.
    static func head(
        _ packed: UnsafeRawBufferPointer, status: UInt16, version: HTTPVersion, reason: String, body: BodyExtent,
        as reuse: Reuse
    ) -> ResponseHead? {
        guard var fields = fields(packed, age: reuse.age) else { return nil }
        switch reuse.form {
        case .whole, .headOnly:
            return ResponseHead(status: status, version: version, reason: reason, fields: fields)
        case .part(let range):
            // RFC 9110 §15.3.7.
            fields.removeAll { name in
                let field = KnownField(name)
                return field == .contentLength || field == .contentRange
            }
            if range != body.range { fields.removeContentDigests() }
            let total = body.total.map { String($0) } ?? "*"
            fields.add("Content-Range", "bytes \(range.lowerBound)-\(max(range.upperBound, 1) - 1)/\(total)")
            fields.add("Content-Length", "\(range.upperBound - range.lowerBound)")
            return ResponseHead(status: 206, version: version, reason: "Partial Content", fields: fields)
        case .notModified:
            // RFC 9110 §15.4.5: nothing that describes the content that is not sent.
            fields.removeAll { name in
                switch KnownField(name) {
                case .contentLength, .contentEncoding, .contentRange, .contentType, .contentLanguage, .contentMD5,
                    .contentDigest:
                    true
                default: false
                }
            }
            return ResponseHead(status: 304, version: version, reason: "Not Modified", fields: fields)
        }
    }

    /// The stored lines and `Age` in one allocation.
    private static func fields(_ packed: UnsafeRawBufferPointer, age: Int64?) -> FieldLines? {
        guard let age else { return FieldLines(packed: packed) }
        // Length of the name (16 bits), of the value (32), the name, up to 20 digits.
        return withUnsafeTemporaryAllocation(byteCount: packed.count + 29, alignment: 8) { buffer in
            buffer.copyMemory(from: packed)
            let start = packed.count
            var digits = 1
            var limit: Int64 = 10
            let age = max(0, age)
            while digits < 18, age >= limit {
                digits += 1
                limit *= 10
            }
            buffer.storeBytes(of: UInt16(3).littleEndian, toByteOffset: start, as: UInt16.self)
            buffer.storeBytes(of: UInt32(digits).littleEndian, toByteOffset: start + 2, as: UInt32.self)
            buffer[start + 6] = UInt8(ascii: "A")
            buffer[start + 7] = UInt8(ascii: "g")
            buffer[start + 8] = UInt8(ascii: "e")
            var rest = age
            for index in stride(from: digits - 1, through: 0, by: -1) {
                buffer[start + 9 + index] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
                rest /= 10
            }
            return FieldLines(packed: UnsafeRawBufferPointer(rebasing: buffer[..<(start + 9 + digits)]))
        }
    }
}
