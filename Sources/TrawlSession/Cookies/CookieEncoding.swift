import TrawlHTTP

/// Text that no cookie can hold, made into text that one can.
///
/// Values are stored and sent as they are; whoever wants to put CR, LF, `;` or anything else into one encodes it first,
/// and decodes it at the other end.
package enum CookieEncoding {
    /// The bytes with all that RFC 6265bis §4.1.1 does not want in a value, and the percent sign, as `%XX`.
    package static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        PercentEncoding.text(of: bytes) { !isPlain($0) }
    }

    /// The text, encoded.
    package static func encoded(_ text: String) -> String { encoded(text.utf8) }

    /// The bytes with each `%XX` as the byte it stands for. A percent sign without two digits stays.
    package static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        PercentEncoding.decoded(bytes)
    }

    /// cookie-octet without the percent sign: %x21 / %x23-2B / %x2D-3A / %x3C-5B / %x5D-7E
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x25: false
        case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
        default: false
        }
    }
}
