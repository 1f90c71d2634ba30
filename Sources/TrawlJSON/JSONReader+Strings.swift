/// Where a string stands in the text it was read from.
package struct JSONString: Sendable, Hashable {
    /// The first byte after the opening quotation mark.
    let start: Int
    /// The closing quotation mark.
    let end: Int
    let hasEscapes: Bool

    /// What is between the quotation marks.
    package var place: Range<Int> { start..<end }
}

extension JSONReader {
    /// Whether a string is this word of ASCII.
    package func isEqual(_ string: JSONString, _ word: StaticString) -> Bool {
        if string.hasEscapes {
            var decoded: [UInt8] = []
            guard (try? appendUTF8(of: string, to: &decoded)) != nil else { return false }
            return decoded.elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        }
        guard string.end - string.start == word.utf8CodeUnitCount else { return false }
        for index in 0..<word.utf8CodeUnitCount where bytes[string.start + index] != word.utf8Start[index] {
            return false
        }
        return true
    }

    /// The text a string stands for.
    /// - Throws: `loneSurrogate`.
    package func text(of string: JSONString) throws(JSONError) -> String {
        guard string.hasEscapes else {
            return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[string.start..<string.end]), as: UTF8.self)
        }
        var decoded: [UInt8] = []
        try appendUTF8(of: string, to: &decoded)
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Appends the UTF-8 of the text a string stands for.
    /// - Throws: `loneSurrogate`.
    package func appendUTF8(of string: JSONString, to result: inout [UInt8]) throws(JSONError) {
        guard string.hasEscapes else {
            result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[string.start..<string.end]))
            return
        }
        result.reserveCapacity(result.count + string.end - string.start)
        var index = string.start
        while index < string.end {
            guard bytes[index] == UInt8(ascii: "\\") else {
                result.append(bytes[index])
                index += 1
                continue
            }
            let (scalar, length) = try escape(at: index, before: string.end)
            UTF8.encode(scalar).map { result.append(contentsOf: $0) }
            index += length
        }
    }

    /// Appends a byte for each character of a string.
    /// - Throws: `notLatin1` for a character that is no byte.
    package func appendLatin1(of string: JSONString, to result: inout [UInt8]) throws(JSONError) {
        var index = string.start
        while index < string.end {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\") {
                let (scalar, length) = try escape(at: index, before: string.end)
                guard let value = UInt8(exactly: scalar.value) else { throw JSONError(.notLatin1, at: index) }
                result.append(value)
                index += length
            } else if byte < 0x80 {
                result.append(byte)
                index += 1
            } else {
                // U+0080 to U+00FF are C2 80 to C3 BF in UTF-8, which the whole text is known to be (RFC 3629 §3).
                guard byte <= 0xC3 else { throw JSONError(.notLatin1, at: index) }
                result.append(byte << 6 | bytes[index + 1] & 0x3F)
                index += 2
            }
        }
    }

    /// The bytes whose Base64 a string is, with its padding and nothing else in it.
    ///
    /// - Throws: `badBase64`.
    /// - Source: RFC 4648 §4, §3.2 (padding), §3.3 (other characters are refused), §3.5 (spare bits must be zero).
    package func base64(of string: JSONString) throws(JSONError) -> [UInt8] {
        if string.hasEscapes {
            // Some encoders write `/` as `\/`.
            var decoded: [UInt8] = []
            try appendUTF8(of: string, to: &decoded)
            let result = decoded.withUnsafeBytes { Base64.decode($0) }
            guard let result else { throw JSONError(.badBase64, at: string.start) }
            return result
        }
        let text = UnsafeRawBufferPointer(rebasing: bytes[string.start..<string.end])
        guard let result = Base64.decode(text) else { throw JSONError(.badBase64, at: string.start) }
        return result
    }

    /// The character an escape stands for, and the escape's length. It has been checked when the string was read.
    private func escape(at index: Int, before end: Int) throws(JSONError) -> (Unicode.Scalar, Int) {
        switch bytes[index + 1] {
        case UInt8(ascii: "b"): return ("\u{8}", 2)
        case UInt8(ascii: "f"): return ("\u{C}", 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        case UInt8(ascii: "u"): break
        case let byte: return (Unicode.Scalar(byte), 2)
        }
        let unit = unit(at: index)
        if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
        // RFC 8259 §7: characters beyond the first plane are written as two.
        guard UTF16.isLeadSurrogate(unit), index + 12 <= end, bytes[index + 6] == UInt8(ascii: "\\"),
            bytes[index + 7] == UInt8(ascii: "u")
        else { throw JSONError(.loneSurrogate, at: index) }
        let second = self.unit(at: index + 6)
        let value = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(second & 0x3FF))
        guard UTF16.isTrailSurrogate(second), let scalar = Unicode.Scalar(value) else {
            throw JSONError(.loneSurrogate, at: index)
        }
        return (scalar, 12)
    }

    /// The four hexadecimal digits of an escape.
    private func unit(at index: Int) -> UInt16 {
        var value: UInt16 = 0
        for position in index + 2..<index + 6 { value = value << 4 | (Self.hexValue(bytes[position]) ?? 0) }
        return value
    }
}
