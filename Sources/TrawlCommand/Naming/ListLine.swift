/// One line of a list of URLs: `URL`, or `URL`, a tab and a file name. Empty lines and lines that start with `#` say
/// nothing.
enum ListLine: Equatable {
    case nothing
    case url(String, fileName: String?)
    case bad(String)

    /// Longer lines are no URLs.
    static let longest = 1 << 17

    init(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= Self.longest else {
            self = .bad("the line is longer than \(Self.longest) bytes")
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self = .bad("the line is not UTF-8")
            return
        }
        var line = text[...]
        while let last = line.unicodeScalars.last, last == "\r" || last == " " || last == "\t" {
            line.unicodeScalars.removeLast()
        }
        while let first = line.unicodeScalars.first, first == " " || first == "\t" { line.unicodeScalars.removeFirst() }
        if line.isEmpty || line.hasPrefix("#") {
            self = .nothing
            return
        }
        let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
        let fileName = parts.count == 2 ? String(parts[1]) : nil
        if let fileName, !LocalPath.staysInside(fileName) {
            self = .bad("the file name must be relative and stay inside the output directory")
            return
        }
        self = .url(String(parts[0]), fileName: fileName)
    }
}
