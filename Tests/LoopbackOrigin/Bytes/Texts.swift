/// JSON, written from left to right.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    mutating func raw(_ text: String) { bytes += text.utf8 }

    mutating func string(_ text: String) { string(bytes: Array(text.utf8), isUTF8: true) }

    /// Bytes as a JSON string. Unless they are known to be UTF-8, each byte from 0x80 up becomes `\u00XX` (Latin-1).
    mutating func string(bytes text: [UInt8], isUTF8: Bool = false) {
        bytes.append(0x22)
        for byte in text {
            switch byte {
            case 0x22, 0x5C: bytes += [0x5C, byte]
            case 0x20..<0x7F: bytes.append(byte)
            case 0x80... where isUTF8: bytes.append(byte)
            default: bytes += "\\u00".utf8 + [Hex.digit(byte >> 4), Hex.digit(byte & 15)]
            }
        }
        bytes.append(0x22)
    }
}

/// Hexadecimal digits.
enum Hex {
    static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }

    /// Sixteen digits.
    static func text(_ value: UInt64) -> String {
        let digits = stride(from: 60, through: 0, by: -4).map { digit(UInt8(truncatingIfNeeded: value >> $0) & 15) }
        return String(decoding: digits, as: UTF8.self)
    }
}

/// RFC 4648 §4 and §5: both alphabets are read, padding is optional, the first is written.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 4 / 3 + 4)
        var index = 0
        while index < bytes.count {
            let rest = bytes.count - index
            let word =
                UInt32(bytes[index]) << 16 | (rest > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                | (rest > 2 ? UInt32(bytes[index + 2]) : 0)
            for (place, shift) in [18, 12, 6, 0].enumerated() {
                text.append(place <= rest ? alphabet[Int(word >> UInt32(shift)) & 63] : 0x3D)
            }
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var word: UInt32 = 0
        var bits = 0
        for character in text where character != 0x3D && character != 0x0A {
            let value: UInt8
            switch character {
            case 0x41...0x5A: value = character - 0x41
            case 0x61...0x7A: value = character - 0x61 + 26
            case 0x30...0x39: value = character - 0x30 + 52
            case 0x2B, 0x2D: value = 62
            case 0x2F, 0x5F: value = 63
            default: return nil
            }
            word = word << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            }
        }
        return bytes
    }
}
