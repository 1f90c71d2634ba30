/// Bytes as a percent sign and two hexadecimal digits, in capitals where they are written here.
///
/// - Source: RFC 3986 §2.1.
package enum PercentEncoding {
    /// Bytes as ASCII, those encoded for which `condition` holds and those outside ASCII. A percent sign is one like
    /// any other.
    package static func bytes(
        of bytes: some Sequence<UInt8>, encoding condition: (UInt8) -> Bool = { _ in false }
    ) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in bytes {
            if byte < 0x80, !condition(byte) {
                result.append(byte)
            } else {
                result += [percent, digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return result
    }

    /// The same as text.
    package static func text(
        of bytes: some Sequence<UInt8>, encoding condition: (UInt8) -> Bool = { _ in false }
    ) -> String {
        String(decoding: self.bytes(of: bytes, encoding: condition), as: UTF8.self)
    }

    /// The bytes with each percent sign and its digits as the byte they stand for. A percent sign without two digits
    /// stays.
    package static func decoded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        decode(bytes).bytes
    }

    /// The same; nil where a percent sign has no two digits.
    package static func strictlyDecoded(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
        let (bytes, isSound) = decode(bytes)
        return isSound ? bytes : nil
    }

    private static func decode(_ encoded: some Sequence<UInt8>) -> (bytes: [UInt8], isSound: Bool) {
        let encoded = Array(encoded)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var isSound = true
        var index = 0
        while index < encoded.count {
            let byte = encoded[index]
            index += 1
            if byte == percent {
                if index + 1 < encoded.count, let high = value(encoded[index]), let low = value(encoded[index + 1]) {
                    bytes.append(high << 4 | low)
                    index += 2
                    continue
                }
                isSound = false
            }
            bytes.append(byte)
        }
        return (bytes, isSound)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static let percent = UInt8(ascii: "%")
}
