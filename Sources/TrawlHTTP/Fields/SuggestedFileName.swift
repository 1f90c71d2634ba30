/// The name a response suggests for its body: one name, safe to be made in any directory.
///
/// It holds no separator, no control character and none that reverses text, does not start with a dot or a dash, and
/// leaves room for a suffix.
///
/// - Source: RFC 6266 §4.3 for what a recipient is to take out of such a name.
package struct SuggestedFileName: Sendable, Hashable {
    /// The most bytes it has, so that a number or an extension can follow: file systems take 255 (NAME_MAX of limits.h).
    package static let longest = 240
    /// The most bytes, its dot included, of what counts as an extension where a name is cut.
    private static let longestExtension = 16

    /// The name.
    package let text: String

    /// What is left of a text, or nil when nothing is.
    package init?(_ text: some StringProtocol) {
        var name = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            // Controls, and what makes text run backwards.
            case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: continue
            case 0x2E where name.isEmpty: continue
            default: break
            }
            // With a dash in front, programs that are given names would take it for options.
            let isReplaced =
                scalar == "/" || scalar == "\\" || scalar == "\u{FFFD}" || scalar == "-" && name.isEmpty
            name.append(isReplaced ? "_" : scalar)
        }
        if name.isEmpty { return nil }
        self.text = Self.cut(String(name))
    }

    /// What is left of a name that is too long: its start, between characters, and its extension.
    private static func cut(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        var ending = Substring()
        if let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) { ending = name[dot...] }
        // A dot at the very end starts none.
        if !(2...longestExtension).contains(ending.utf8.count) { ending = "" }
        var end = name.utf8.index(name.startIndex, offsetBy: longest - ending.utf8.count)
        while UTF8.isContinuation(name.utf8[end]) { name.utf8.formIndex(before: &end) }
        return String(name[..<end] + ending)
    }

    /// The name in a `Content-Disposition` value, or nil when it has none.
    package init?(disposition value: String) {
        guard let name = ContentDisposition.fileName(value) else { return nil }
        self.init(name)
    }

    /// The name in the first `Content-Disposition` of a head, or nil when there is none.
    package init?(disposition fields: FieldLines) {
        guard let value = fields.first("Content-Disposition") else { return nil }
        self.init(disposition: value)
    }

    /// The name for a response: that of `Content-Disposition`, else the last part of the path, else the host; a name
    /// without an extension gets that of the media type.
    ///
    /// - Parameters:
    ///   - path: As in the URL, still percent-encoded.
    ///   - host: As in the URL.
    package init(fields: FieldLines, path: String, host: String) {
        let type = fields.first("Content-Type").flatMap(MediaType.init)?.essence
        let ending = type.flatMap { Self.extensions[$0] }.map { "." + $0 } ?? ""
        let last = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last
        if let name = Self(disposition: fields) ?? last.flatMap({ Self(Self.decoded($0)) }) {
            // A dot at the very end starts no extension.
            let hasExtension = name.text.dropLast().contains(".")
            self = hasExtension ? name : Self(verbatim: name.text + ending)
        } else {
            self.init(verbatim: (Self(host.filter { $0 != "[" && $0 != "]" })?.text ?? "download") + ending)
        }
    }

    private init(verbatim text: String) { self.text = text }

    /// Escapes undone (RFC 3986 §2.1); as it was when that gives no text.
    private static func decoded(_ part: Substring.UTF8View) -> String {
        String(validating: PercentEncoding.decoded(part), as: UTF8.self) ?? String(Substring(part))
    }

    /// Usual extensions of common media types (IANA's registrations).
    private static let extensions = [
        "application/epub+zip": "epub", "application/gzip": "gz", "application/javascript": "js",
        "application/json": "json", "application/ld+json": "jsonld", "application/pdf": "pdf",
        "application/rss+xml": "rss", "application/atom+xml": "atom", "application/xhtml+xml": "xhtml",
        "application/xml": "xml", "application/zip": "zip", "application/zstd": "zst", "application/warc": "warc",
        "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/wav": "wav", "font/woff": "woff", "font/woff2": "woff2",
        "image/avif": "avif", "image/gif": "gif", "image/jpeg": "jpg", "image/png": "png", "image/svg+xml": "svg",
        "image/webp": "webp", "image/vnd.microsoft.icon": "ico", "image/x-icon": "ico", "text/calendar": "ics",
        "text/css": "css", "text/csv": "csv", "text/html": "html", "text/javascript": "js", "text/markdown": "md",
        "text/plain": "txt", "text/xml": "xml", "video/mp4": "mp4", "video/webm": "webm",
    ]
}
