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
        var text = text
        let rest: String? = text.withUTF8 { bytes in
            guard let place = userInformation(bytes) else { return nil }
            return String(decoding: bytes[..<place.lowerBound], as: UTF8.self)
                + String(decoding: bytes[(place.upperBound + 1)...], as: UTF8.self)
        }
        return rest ?? text
    }

    /// The user that the text names in its authority: what stands before the first colon of the user information, as it
    /// is written. Nil when there is none.
    static func user(in text: String) -> String? {
        var text = text
        return text.withUTF8 { bytes in
            guard let place = userInformation(bytes) else { return nil }
            return String(decoding: bytes[place].prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        }
    }

    /// Where the user information is, without the `@` behind it.
    ///
    /// By bytes: a sign with a combining character behind it is one character, and a sign all the same. Texts that are
    /// no URL are as well looked through as others, since they are shown in turn: after the scheme's colon there may be
    /// any number of slashes, none too, and backslashes for them.
    private static func userInformation(_ text: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        // Asked of every record, and mostly in vain.
        guard let base = text.baseAddress, memchr(base, 0x40, text.count) != nil else { return nil }
        var start = 0
        if let end = text.firstIndex(where: { ":/?#@\\".utf8.contains($0) }), text[end] == UInt8(ascii: ":") {
            start = end + 1
        }
        while start < text.count, text[start] == UInt8(ascii: "/") || text[start] == UInt8(ascii: "\\") { start += 1 }
        let authority = text[start...].prefix { !"/?#".utf8.contains($0) }
        guard let sign = authority.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        return start..<sign
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
