/// A URI reference cut into its five parts, nothing decoded or checked.
///
/// - Source: RFC 3986 §3 and appendix B.
struct URIReference {
    let scheme: Substring?
    let authority: Substring?
    let path: Substring
    let query: Substring?
    let fragment: Substring?

    init(_ text: String) {
        var rest = Substring(text)
        // The scheme ends at the first colon, unless a slash, question mark or number sign comes before it.
        if let end = rest.utf8.firstIndex(where: { !Self.isSchemeByte($0) }), rest.utf8[end] == UInt8(ascii: ":"),
            let first = rest.utf8.first, Self.isLetter(first)
        {
            scheme = rest[..<end]
            rest = rest[rest.utf8.index(after: end)...]
        } else {
            scheme = nil
        }
        // Searched in UTF-8, since a combining mark makes another Character of the sign before it.
        fragment = Self.cut(&rest, at: UInt8(ascii: "#"))
        query = Self.cut(&rest, at: UInt8(ascii: "?"))
        if rest.utf8.starts(with: "//".utf8) {
            let start = rest.utf8.index(rest.startIndex, offsetBy: 2)
            let end = rest.utf8[start...].firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[start..<end]
            path = rest[end...]
        } else {
            authority = nil
            path = rest
        }
    }

    /// Takes what follows the first `mark` off `text`; nil when there is none.
    private static func cut(_ text: inout Substring, at mark: UInt8) -> Substring? {
        guard let index = text.utf8.firstIndex(of: mark) else { return nil }
        let tail = text[text.utf8.index(after: index)...]
        text = text[..<index]
        return tail
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26
    }

    static func isSchemeByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte &- 0x30 < 10 || byte == 0x2B || byte == 0x2D || byte == 0x2E
    }
}
