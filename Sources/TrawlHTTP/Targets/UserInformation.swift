/// The user information of texts that are URLs, or meant as one (RFC 3986 §3.2.1): what must not be shown or kept.
///
/// By bytes: a sign with a combining character behind it is one character, and a sign all the same. Texts that are no
/// URL are looked through as well as others, since they are shown in turn: behind the scheme there may be any number of
/// slashes, and backslashes for them; without a slash there is no scheme, for `user:password@host` has none.
///
/// A password may hold a `/`, `?` or `#` that should have been encoded, and ends the authority: `http://user:pa/ss@host`.
/// What is left of the authority then names no port, so it is no URL (RFC 3986 §3.2.3), and all of the text up to its
/// last `@` is taken for user information.
///
/// A text that gets no scheme where it has none is a URL as it stands, and `mailto:a@b` one without an authority: for
/// those there are functions of their own. Elsewhere, as among arguments, it is the host `b` with user and password.
package enum UserInformation {
    /// The text without its user information, and without the `@` behind that.
    package static func removed(from text: String) -> String { removed(from: text, at: place(in:)) }

    /// The same of a URL as it stands: a `mailto:a@b` is left as it is.
    package static func removed(fromURL url: String) -> String { removed(from: url, at: place(inURL:)) }

    /// The user that the text names: what stands before the first colon of the user information, as it is written. Nil
    /// when there is none.
    package static func user(in text: String) -> String? { user(in: text, at: place(in:)) }

    /// The same of a URL as it stands: a `mailto:a@b` names none.
    package static func user(inURL url: String) -> String? { user(in: url, at: place(inURL:)) }

    private static func removed(from text: String, at find: (UnsafeBufferPointer<UInt8>) -> Range<Int>?) -> String {
        let rest: String? = lend(text) { bytes in
            guard let place = find(bytes) else { return nil }
            return String(decoding: bytes[..<place.lowerBound], as: UTF8.self)
                + String(decoding: bytes[(place.upperBound + 1)...], as: UTF8.self)
        }
        return rest ?? text
    }

    private static func user(in text: String, at find: (UnsafeBufferPointer<UInt8>) -> Range<Int>?) -> String? {
        lend(text) { bytes in
            guard let place = find(bytes) else { return nil }
            return String(decoding: bytes[place].prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        }
    }

    /// Lends the bytes of a text as it is: `withUTF8` wants a variable, and that a reference of its own.
    private static func lend<Value>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        if let value = text.utf8.withContiguousStorageIfAvailable(body) { return value }
        return Array(text.utf8).withUnsafeBufferPointer(body)
    }

    /// Where the user information is, without the `@` behind it; nil when there is none.
    package static func place(in text: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        // Lists are asked this for each of their lines, and hardly any has one.
        guard holdsAtSign(UnsafeRawBufferPointer(text)) else { return nil }
        let authority = authority(in: text)
        let end = text[authority].lastIndex(of: UInt8(ascii: "@"))
        let host = text[(end.map { $0 + 1 } ?? authority.lowerBound)..<authority.upperBound]
        let last = isHostAndPort(host) ? end : text[authority.lowerBound...].lastIndex(of: UInt8(ascii: "@"))
        return last.map { authority.lowerBound..<$0 }
    }

    /// The same of a URL as it stands.
    private static func place(inURL url: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        place(in: url).flatMap { hasNoAuthority(url) ? nil : $0 }
    }

    /// Schemes without an authority (RFC 3986 §3), in whose URLs an `@` is no sign of user information.
    private static let otherSchemes: Set<String> = [
        "mailto", "javascript", "data", "tel", "sip", "sips", "xmpp", "urn", "about", "blob",
    ]

    /// Whether a URL with an `@` has such a scheme, and nothing before the `@` that may be a password.
    ///
    /// Behind another colon there may be one: RFC 3261 §19.1.1 has `sip:user:password@host`, and what `data` or `blob`
    /// hold may be a URL in turn. In `urn:isbn:…` that colon ends a second name (RFC 8141 §2).
    private static func hasNoAuthority(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
        let colon = UInt8(ascii: ":")
        guard let end = url.firstIndex(of: colon), let sign = url.lastIndex(of: UInt8(ascii: "@")), end < sign else {
            return false
        }
        let scheme = String(decoding: url[..<end], as: UTF8.self).lowercased()
        var rest = url[(end + 1)..<sign]
        guard otherSchemes.contains(scheme), rest.first.map(isSlash) != true else { return false }
        if scheme == "urn", let name = rest.firstIndex(of: colon) { rest = rest[(name + 1)...] }
        return !rest.contains(colon)
    }

    /// Whether there is an `@`; without one there is no user information.
    package static func holdsAtSign(_ text: String) -> Bool {
        lend(text) { holdsAtSign(UnsafeRawBufferPointer($0)) }
    }

    /// Whether there is an `@`, looked for in eight bytes at a time.
    private static func holdsAtSign(_ text: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let signs = ones &* 0x40
        var index = 0
        while index + 8 <= text.count {
            // Zero where there is a sign, and what is zero borrows.
            let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ signs
            if (word &- ones) & ~word & (ones &* 0x80) != 0 { return true }
            index += 8
            // The last eight may overlap those before.
            if index < text.count { index = min(index, text.count - 8) }
        }
        while index < text.count {
            if text[index] == UInt8(ascii: "@") { return true }
            index += 1
        }
        return false
    }

    /// Where the authority is, user information included.
    private static func authority(in text: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        var start = 0
        if let end = text.firstIndex(where: endsScheme), text[end] == UInt8(ascii: ":"), end + 1 < text.count,
            isSlash(text[end + 1])
        {
            start = end + 1
        }
        while start < text.count, isSlash(text[start]) { start += 1 }
        return start..<(text[start...].firstIndex(where: endsAuthority) ?? text.count)
    }

    /// Whether bytes without an `@` may be a host and its port: what follows the host's first colon is a number from 1 to
    /// 65535, or nothing.
    ///
    /// - Source: RFC 3986 §3.2.2 (colons are in brackets), §3.2.3.
    private static func isHostAndPort(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var rest = bytes
        if bytes.first == UInt8(ascii: "["), let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) {
            rest = bytes[(bracket + 1)...]
        }
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), colon + 1 < rest.endIndex else { return true }
        var port = 0
        for byte in rest[(colon + 1)...] {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return false }
            port = min(port * 10 + Int(byte - UInt8(ascii: "0")), 65_536)
        }
        return port >= 1 && port <= 65_535
    }

    /// Whether a scheme is over, or there was none.
    private static func endsScheme(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "\\") || endsAuthority(byte)
    }

    /// RFC 3986 §3.2.
    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
}
