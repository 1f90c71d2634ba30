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

    /// Bytes as part of a query: those that are no ASCII percent-encoded, whether they are text or not.
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

    /// Whether the first slash, question mark or number sign is the first of `://`, or that of `http:/` or `https:/`: who
    /// wrote that means no host of this name, which would be sent the rest, user information too, as a path.
    private static func hasScheme(_ text: UnsafeRawBufferPointer) -> Bool {
        for index in 0..<text.count {
            switch text[index] {
            case UInt8(ascii: "?"), UInt8(ascii: "#"): return false
            case UInt8(ascii: "/"):
                guard index > 0, text[index - 1] == UInt8(ascii: ":") else { return false }
                if index + 1 < text.count, text[index + 1] == UInt8(ascii: "/") { return true }
                return ["http", "https"].contains(String(decoding: text[..<(index - 1)], as: UTF8.self).lowercased())
            default: continue
            }
        }
        return false
    }
}
