/// One content coding named by a `Content-Encoding` field.
///
/// - Source: RFC 9110 §8.4.1.
package enum ContentCoding: Sendable, Hashable {
    /// No change. Reserved for `Accept-Encoding`, harmless where it appears anyway (RFC 9110 §12.5.3).
    case identity
    /// RFC 1952, also under its old name `x-gzip` (RFC 9110 §8.4.1.3).
    case gzip
    /// RFC 1950; in practice also bare RFC 1951 (RFC 9110 §8.4.1.2).
    case deflate
    /// RFC 7932.
    case brotli
    /// A coding this package cannot undo, in lower case.
    case unknown(String)

    /// The coding of that name, in any case.
    package init(name: some StringProtocol) {
        // RFC 9110 §8.4.1: content codings are case-insensitive.
        switch name.lowercased() {
        case "identity": self = .identity
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case let name: self = .unknown(name)
        }
    }

    /// The name as it is sent.
    package var name: String {
        switch self {
        case .identity: "identity"
        case .gzip: "gzip"
        case .deflate: "deflate"
        case .brotli: "br"
        case .unknown(let name): name
        }
    }

    /// The codings of a body, in the order in which they were applied.
    ///
    /// Several field lines form one list, and empty elements are skipped.
    /// A member with anything but a name (`gzip;q=1`) is an unknown coding.
    ///
    /// - Parameter fieldValues: The values of all `Content-Encoding` field lines, in order.
    /// - Source: RFC 9110 §8.4, §5.3 (combining lines), §5.6.1.2 (empty elements).
    package static func list(_ fieldValues: [String]) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for value in fieldValues {
            var bytes = value.utf8[...]
            while true {
                let end = bytes.firstIndex(of: UInt8(ascii: ",")) ?? bytes.endIndex
                let member = trimmed(bytes[..<end])
                if !member.isEmpty {
                    codings.append(ContentCoding(name: Substring(member)))
                }
                guard end < bytes.endIndex else { break }
                bytes = bytes[bytes.index(after: end)...]
            }
        }
        return codings
    }

    /// Without optional whitespace at both ends (RFC 9110 §5.6.3).
    private static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        let bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        guard let last = bytes.lastIndex(where: { $0 != 0x20 && $0 != 0x09 }) else { return bytes[..<bytes.startIndex] }
        return bytes[...last]
    }
}
