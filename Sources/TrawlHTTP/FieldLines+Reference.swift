extension FieldLines {
    /// The URI reference in the first line of that name that is not empty, as in `Location`; nil when there is none.
    ///
    /// A URI is ASCII (RFC 3986 §2), and not every sender's is. What is UTF-8 is text; of other values each byte outside
    /// ASCII is percent-encoded, so that the reference names the bytes that came and not characters somebody guessed.
    package func reference(_ name: String) -> String? {
        var found: String?
        forEach { lineName, value in
            guard found == nil, !value.isEmpty, FieldSyntax.equalIgnoringCase(lineName, name) else { return }
            found = Self.utf8Text(value) ?? Self.percentEncoded(value)
        }
        return found
    }

    /// Bytes outside ASCII in the form libcurl gives them, with small letters (RFC 3986 §2.1).
    private static func percentEncoded(_ bytes: UnsafeRawBufferPointer) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(3 * bytes.count)
        for byte in bytes {
            if byte < 0x80 {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
