/// Status, reason and header section of a response, interim or final.
///
/// - Source: RFC 9110 §15, RFC 9112 §4.
package struct ResponseHead: Sendable, Hashable {
    /// Three digits, 100 to 999.
    package var status: UInt16
    /// What the server spoke.
    package var version: HTTPVersion
    /// The reason phrase as it came; empty in HTTP/2.
    package var reason: String
    /// The header section.
    package var fields: FieldLines

    /// A head of its parts.
    package init(status: UInt16, version: HTTPVersion, reason: String, fields: FieldLines) {
        self.status = status
        self.version = version
        self.reason = reason
        self.fields = fields
    }

    /// Whether more heads of the same exchange follow (RFC 9110 §15.2); 101 is final for a client that upgrades.
    package var isInterim: Bool { status < 200 && status != 101 }

    /// The announced length of the body, or nil when there is none or it is not a number.
    ///
    /// - Source: RFC 9110 §8.6; several equal values count as one, different ones as none.
    package var contentLength: UInt64? {
        var found: UInt64?
        var isValid = true
        fields.forEach { name, value in
            guard isValid, FieldSyntax.equalIgnoringCase(name, "Content-Length") else { return }
            if found == nil, let length = FieldSyntax.decimal(value) {
                found = length
                return
            }
            for part in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                let length = FieldSyntax.decimal(FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: part)))
                if length == nil || (found != nil && found != length) { isValid = false }
                found = length
            }
        }
        return isValid ? found : nil
    }
}
