/// Percent-encoding as libcurl does it: with small letters, and no percent sign touched.
///
/// - Source: RFC 3986 §2.1.
package enum PercentEncoding {
    /// Bytes as text of ASCII, those encoded for which `condition` holds and those outside ASCII.
    package static func text(
        of bytes: some Sequence<UInt8>, encoding condition: (UInt8) -> Bool = { _ in false }
    ) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            if byte < 0x80, !condition(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
