/// The charset of a body, chosen from its first bytes and its `Content-Type`.
package struct CharsetChoice: Sendable, Hashable {
    /// The charset.
    package let charset: Charset
    /// Bytes of the byte order mark, which is no part of the text.
    package let markLength: Int

    /// The charset of a body: a byte order mark wins over everything; JSON is UTF-8; else the `charset` parameter, and
    /// where there is none that is known, the default. Nil when the default is unknown too.
    ///
    /// - Parameters:
    ///   - bytes: The body, or at least its first four bytes.
    ///   - contentType: The value of `Content-Type`, or nil.
    ///   - defaultLabel: What a body without another charset is in.
    ///   - isKnown: Whether a charset other than those built in can be converted.
    /// - Source: RFC 9110 §8.3.2; RFC 8259 §8.1 and §11: JSON is UTF-8, and a charset parameter has no meaning for it.
    ///   That text without a charset is ISO-8859-1 was RFC 2616 §3.7.1; nothing took its place but the caller's
    ///   default.
    package init?(
        _ bytes: UnsafeRawBufferPointer, contentType: String?, defaultLabel: String, isKnown: (Charset) -> Bool
    ) {
        if let (charset, length) = Self.mark(bytes) {
            self.init(charset, mark: length)
            return
        }
        // A type that is damaged may have a good parameter.
        if let contentType, let type = MediaType(contentType) ?? MediaType("text/plain;" + contentType) {
            if Self.isJSON(type.essence) {
                self.init(.utf8)
                return
            }
            if let label = type.parameter("charset"), let charset = Charset(label: label), isKnown(charset) {
                self.init(charset)
                return
            }
        }
        guard let charset = Charset(label: defaultLabel), isKnown(charset) else { return nil }
        self.init(charset)
    }

    private init(_ charset: Charset, mark length: Int = 0) {
        self.charset = charset
        markLength = length
    }

    private static func mark(_ bytes: UnsafeRawBufferPointer) -> (Charset, Int)? {
        let wide: (UInt8, UInt8, UInt8, UInt8)? =
            bytes.count >= 4 ? (bytes[0], bytes[1], bytes[2], bytes[3]) : nil
        if let wide {
            if wide == (0, 0, 0xFE, 0xFF) { return (.named("UTF-32BE"), 4) }
            // No text in UTF-16 begins with NUL.
            if wide == (0xFF, 0xFE, 0, 0) { return (.named("UTF-32LE"), 4) }
        }
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { return (.utf8, 3) }
        guard bytes.count >= 2 else { return nil }
        if bytes[0] == 0xFE, bytes[1] == 0xFF { return (.utf16BigEndian, 2) }
        if bytes[0] == 0xFF, bytes[1] == 0xFE { return (.utf16LittleEndian, 2) }
        return nil
    }

    /// RFC 6839 §3.1: the suffix says that it is JSON too.
    private static func isJSON(_ essence: String) -> Bool {
        switch essence {
        case "application/json", "text/json", "application/x-ndjson", "application/json-seq": true
        default: essence.hasSuffix("+json")
        }
    }
}
