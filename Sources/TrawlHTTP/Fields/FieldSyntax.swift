/// Which bytes may stand in field names and values.
///
/// - Source: RFC 9110 §5.6.2 (token), §5.5 (field values).
package enum FieldSyntax {
    /// Whether `byte` may be part of a token: field names and methods.
    @inline(__always)
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        // A bit for each byte below 128: digits, letters and !#$%&'*+-.^_`|~
        let bits: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return byte < 128 && bits >> UInt64(byte & 63) & 1 != 0
    }

    /// What may be shown of the name of a line that is refused: what of it can be a name, and "…" for the rest. That may
    /// be a secret, as in `Authorization Bearer secret: x` or where the colon was forgotten.
    package static func shown(refused name: some Collection<UInt8>) -> String {
        let token = name.prefix(64).prefix { isTokenByte($0) }
        return String(decoding: token, as: UTF8.self) + (token.count < name.count ? "…" : "")
    }

    /// Whether `bytes` is a token: not empty, token bytes only.
    package static func isToken(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        // Eight bytes at a time where all of them are letters and hyphens, as in most names; the last eight may overlap
        // those before.
        while index + 8 <= bytes.count, areLetters(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) {
            index += 8
            let last = bytes.count - 8
            if index > last, areLetters(bytes.loadUnaligned(fromByteOffset: last, as: UInt64.self)) { return true }
        }
        while index < bytes.count {
            if !isTokenByte(bytes[index]) { return false }
            index += 1
        }
        return !bytes.isEmpty
    }

    /// Whether eight bytes are letters of ASCII and hyphens.
    @inline(__always)
    private static func areLetters(_ word: UInt64) -> Bool {
        let high = ones &* 0x80
        if word & high != 0 { return false }
        let lower = word | ones &* 0x20
        // No sum carries into the next byte. The bit is set from "a" on, and from the byte after "z" on.
        let letters = (lower &+ ones &* (0x80 - 0x61)) & ~(lower &+ ones &* (0x80 - 0x7B))
        let hyphens = ~((word ^ ones &* 0x2D) &+ ones &* 0x7F)
        return (letters | hyphens) & high == high
    }

    /// Whether `bytes` may be sent or kept as a field value.
    ///
    /// CR, LF and NUL are refused: they are dangerous as message syntax (RFC 9110 §5.5). Other control bytes and
    /// bytes above 0x7F are kept as they are.
    package static func isFieldValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        // Eight bytes at a time as long as none of them is below 0x0E, as control bytes hardly ever are there. What is
        // less than 0x0E borrows, and a byte of 0x80 and more does not count.
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if (word &- ones &* 0x0E) & ~word & (ones &* 0x80) != 0 {
                for place in index..<index + 8 where !isValueByte(bytes[place]) { return false }
            }
            index += 8
            // The last eight may overlap those before.
            if index < bytes.count { index = min(index, bytes.count - 8) }
        }
        while index < bytes.count {
            if !isValueByte(bytes[index]) { return false }
            index += 1
        }
        return true
    }

    /// Whether a text, in UTF-8, may be sent as a field value.
    package static func isFieldValue(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isFieldValue(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    private static func isValueByte(_ byte: UInt8) -> Bool { byte != 0x0D && byte != 0x0A && byte != 0 }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// `byte` in lower case when it is an ASCII capital.
    @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Whether the two byte strings are equal but for the case of ASCII letters.
    package static func equalIgnoringCase(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        var index = 0
        // Eight bytes at a time as long as they are the same: most names are spelled as in their standard.
        while index + 8 <= left.count,
            left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                == right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        {
            index += 8
        }
        while index < left.count {
            if lowercased(left[index]) != lowercased(right[index]) { return false }
            index += 1
        }
        return true
    }

    /// Whether a name equals a text but for the case of ASCII letters.
    package static func equalIgnoringCase(_ left: UnsafeRawBufferPointer, _ right: String) -> Bool {
        guard left.count == right.utf8.count else { return false }
        var right = right
        return right.withUTF8 { equalIgnoringCase(left, UnsafeRawBufferPointer($0)) }
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
