import Glibc
import TrawlHTTP

/// URLs as people write them.
enum URLText {
    /// The URL with `http://` before it when it has no scheme, as in curl.
    static func completed(_ text: String) -> String {
        var text = text
        return text.withUTF8 { completed(UnsafeRawBufferPointer($0)) }
    }

    /// The same of bytes that are UTF-8.
    static func completed(_ text: UnsafeRawBufferPointer) -> String {
        if hasScheme(text) { return String(decoding: text, as: UTF8.self) }
        return "http://" + String(decoding: text, as: UTF8.self)
    }

    /// Bytes as part of a query: those that are no ASCII percent-encoded, whether they are text or not, as libcurl
    /// encodes them.
    static func query(ofBytes bytes: [UInt8]) -> String {
        PercentEncoding.text(of: bytes)
    }

    /// The URL with more at the end of its query.
    static func adding(query: String?, to url: String) -> String {
        guard let query else { return url }
        let end = url.firstIndex(of: "#") ?? url.endIndex
        let rest = url[end...]
        let start = url[..<end]
        let mark = !start.contains("?") ? "?" : start.hasSuffix("?") || start.hasSuffix("&") ? "" : "&"
        return start + mark + query + rest
    }

    /// The URL of a file in the directory that a URL ending with a slash stands for; other URLs as they are.
    static func adding(name: String, to url: String) -> String {
        let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        guard url[..<end].hasSuffix("/") || !url[..<end].drop(while: { $0 != ":" }).dropFirst(3).contains("/") else {
            return url
        }
        var path = url[..<end]
        if !path.hasSuffix("/") { path += "/" }
        return path + String(decoding: RequestBody.percentEncoded(Array(name.utf8), space: "%20"), as: UTF8.self)
            + url[end...]
    }

    /// The text without what stands before an `@` in its authority (RFC 3986 §3.2.1), for messages and records.
    static func withoutUserInformation(_ text: String) -> String {
        // Asked of every record, and mostly in vain.
        var bytes = text
        let hasMark = bytes.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return false }
            return memchr(start, 0x40, bytes.count) != nil
        }
        guard hasMark, let start = text.utf8.firstIndex(of: UInt8(ascii: "/")) else {
            return text
        }
        let authority = text[start...].dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<authority.startIndex] + text[text.index(after: at)...])
    }

    /// Whether the first slash, question mark or number sign is the first of `://`.
    private static func hasScheme(_ text: UnsafeRawBufferPointer) -> Bool {
        for index in 0..<text.count {
            switch text[index] {
            case UInt8(ascii: "?"), UInt8(ascii: "#"): return false
            case UInt8(ascii: "/"):
                return index > 0 && text[index - 1] == UInt8(ascii: ":") && index + 1 < text.count
                    && text[index + 1] == UInt8(ascii: "/")
            default: continue
            }
        }
        return false
    }
}
