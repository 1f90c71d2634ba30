/// Text that no cookie can hold, made into text that one can.
///
/// Values are stored and sent as they are; whoever wants to put CR, LF, `;` or anything else into one encodes it first,
/// and decodes it at the other end.
package enum CookieEncoding {
    /// The bytes with all that RFC 6265bis §4.1.1 does not want in a value, and the percent sign, as `%XX`.
    package static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if isPlain(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The text, encoded.
    package static func encoded(_ text: String) -> String { encoded(text.utf8) }

    /// The bytes with each `%XX` as the byte it stands for. A percent sign without two digits stays.
    package static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = value(bytes[index + 1]),
                let low = value(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    /// cookie-octet without the percent sign: %x21 / %x23-2B / %x2D-3A / %x3C-5B / %x5D-7E
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x25: false
        case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
        default: false
        }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
