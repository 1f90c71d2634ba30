/// Which bytes may stand in field names and values.
///
/// - Source: RFC 9110 §5.6.2 (token), §5.5 (field values).
package enum FieldSyntax {
    /// Whether `byte` may be part of a token: field names and methods.
    @inline(__always)
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Whether `bytes` is a token: not empty, token bytes only.
    package static func isToken(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
    }

    /// Whether `bytes` may be sent or kept as a field value.
    ///
    /// CR, LF and NUL are refused: they are dangerous as message syntax (RFC 9110 §5.5). Other control bytes and
    /// bytes above 0x7F are kept as they are.
    package static func isFieldValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes where byte == 0x0D || byte == 0x0A || byte == 0 { return false }
        return true
    }

    /// `byte` in lower case when it is an ASCII capital.
    @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Whether the two byte strings are equal but for the case of ASCII letters.
    package static func equalIgnoringCase(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        for index in 0..<left.count where lowercased(left[index]) != lowercased(right[index]) { return false }
        return true
    }

    /// Whether a name equals a text but for the case of ASCII letters.
    package static func equalIgnoringCase(_ left: UnsafeRawBufferPointer, _ right: String) -> Bool {
        let right = right.utf8
        guard left.count == right.count else { return false }
        var index = 0
        for byte in right {
            if lowercased(byte) != lowercased(left[index]) { return false }
            index += 1
        }
        return true
    }

    /// Whether the two strings are equal but for the case of ASCII letters.
    package static func equalIgnoringCase(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.lazy.map(lowercased).elementsEqual(right.utf8.lazy.map(lowercased))
    }

    /// The number that `bytes` write in decimal digits and nothing else (`1*DIGIT`), or nil when they do not or it is
    /// above what 64 bits hold.
    package static func decimal(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
        guard !bytes.isEmpty else { return nil }
        var number: UInt64 = 0
        for byte in bytes {
            let digit = byte &- 0x30
            guard digit < 10 else { return nil }
            let (product, tooLong) = number.multipliedReportingOverflow(by: 10)
            let (sum, tooLarge) = product.addingReportingOverflow(UInt64(digit))
            guard !tooLong, !tooLarge else { return nil }
            number = sum
        }
        return number
    }

    /// `bytes` without spaces and tabs at both ends (OWS, RFC 9110 §5.6.3).
    package static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0
        var end = bytes.count
        while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
        while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }
}
