/// The Base64 of bytes and back.
///
/// - Source: RFC 4648 §4.
enum Base64 {
    private static let alphabet: [UInt8] = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    private static let invalid: UInt8 = 0xFF

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (index, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(index) }
        return values
    }()

    /// How many characters so many bytes become, padding included.
    static func encodedLength(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Writes the characters; `output` has room for exactly those.
    static func encode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>) {
        alphabet.withUnsafeBufferPointer { alphabet in
            var read = 0
            var write = 0
            while read + 3 <= input.count {
                let group = UInt32(input[read]) << 16 | UInt32(input[read + 1]) << 8 | UInt32(input[read + 2])
                output[write] = alphabet[Int(group >> 18)]
                output[write + 1] = alphabet[Int(group >> 12 & 63)]
                output[write + 2] = alphabet[Int(group >> 6 & 63)]
                output[write + 3] = alphabet[Int(group & 63)]
                read += 3
                write += 4
            }
            guard read < input.count else { return }
            let second = read + 1 < input.count ? input[read + 1] : 0
            let group = UInt32(input[read]) << 16 | UInt32(second) << 8
            output[write] = alphabet[Int(group >> 18)]
            output[write + 1] = alphabet[Int(group >> 12 & 63)]
            output[write + 2] = read + 1 < input.count ? alphabet[Int(group >> 6 & 63)] : padding
            output[write + 3] = padding
        }
    }

    /// The bytes, or nil when the text is not the Base64 of any.
    static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard !text.isEmpty else { return [] }
        var spare = 0
        if text[text.count - 1] == padding { spare = text[text.count - 2] == padding ? 2 : 1 }
        let count = text.count / 4 * 3 - spare
        var isValid = true
        let result = [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            values.withUnsafeBufferPointer { values in
                var write = 0
                for read in stride(from: 0, to: text.count, by: 4) {
                    let kept = read + 4 == text.count ? 4 - spare : 4
                    var group: UInt32 = 0
                    for position in 0..<4 {
                        let value = position < kept ? values[Int(text[read + position])] : 0
                        if value == invalid { isValid = false }
                        group = group << 6 | UInt32(value & 63)
                    }
                    for position in 0..<kept - 1 {
                        output[write] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * position))
                        write += 1
                    }
                    // Bits that belong to no byte.
                    if kept < 4, group & (kept == 3 ? 0xFF : 0xFFFF) != 0 { isValid = false }
                }
                initialized = write
            }
        }
        return isValid ? result : nil
    }
}
