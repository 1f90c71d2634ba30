/// Status, reason and header section of a response, interim or final.
///
/// - Source: RFC 9110 §15, RFC 9112 §4.
package struct ResponseHead: Sendable, Hashable {
    /// Three digits, 100 to 999.
    package var status: UInt16
    /// What the server spoke.
    package var version: HTTPVersion
    /// The reason phrase, one character for each byte that came; empty in HTTP/2.
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

    /// The bytes of a reason phrase as they came. What is no byte, as in a phrase that was stored as text, is in UTF-8.
    package static func bytes(ofReason phrase: String) -> [UInt8] {
        phrase.unicodeScalars.flatMap { scalar in
            UInt8(exactly: scalar.value).map { [$0] } ?? Array(String(Character(scalar)).utf8)
        }
    }

    /// A reason phrase as text: of UTF-8 if its bytes are that, else of ISO-8859-1.
    package static func text(ofReason phrase: String) -> String {
        // Nearly all are of ASCII.
        if phrase.utf8.allSatisfy({ $0 < 0x80 }) { return phrase }
        return bytes(ofReason: phrase).withUnsafeBytes { FieldLines.text($0) }
    }

    /// Whether more heads of the same exchange follow (RFC 9110 §15.2); 101 is final for a client that upgrades.
    package var isInterim: Bool { status < 200 && status != 101 }

    /// Whether a status is one of a failure that may pass: another attempt may come to another.
    ///
    /// - Source: RFC 9110 §15.5.9 (408) and §15.6.1, .3 to .5 (5xx), RFC 6585 §4 (429): those that curl takes too.
    package static func mayPass(_ status: UInt16) -> Bool {
        switch status {
        case 408, 429, 500, 502, 503, 504: true
        default: false
        }
    }

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
