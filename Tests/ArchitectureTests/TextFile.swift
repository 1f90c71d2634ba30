/// One file of the tree, as lines, and for Swift and C also as lines with comments and literals blanked out.
struct TextFile: Sendable {
    /// Relative to the root, with `/`.
    let path: String
    /// Without line ends. Index 0 is line 1.
    let lines: [String]
    /// The same lines with the contents of comments and string literals removed.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let isCode = [".swift", ".c", ".h"].contains { path.hasSuffix($0) }
        code = isCode ? CodeScanner.blank(text) : lines
    }

    /// The last component of the path.
    var name: String { String(path.split(separator: "/").last ?? "") }

    /// Number of lines, not counting what follows the last line end.
    var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

    /// The words and marks of a line of code: identifiers (with their `@` or `#`), and single marks. Spaces go.
    func tokens(ofLine index: Int) -> [String] { Self.tokens(of: code[index]) }

    static func tokens(of line: String) -> [String] {
        var tokens: [String] = []
        var word = ""
        func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
                true
            default: false
            }
        }
        for byte in line.utf8 {
            if isWord(byte) || (word.isEmpty && (byte == UInt8(ascii: "@") || byte == UInt8(ascii: "#"))) {
                word.unicodeScalars.append(Unicode.Scalar(byte))
                continue
            }
            if !word.isEmpty {
                tokens.append(word)
                word = ""
            }
            if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t") { tokens.append(String(Unicode.Scalar(byte))) }
        }
        if !word.isEmpty { tokens.append(word) }
        return tokens
    }
}
