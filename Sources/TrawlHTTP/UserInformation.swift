/// The user information of texts that are URLs, or meant as one (RFC 3986 §3.2.1): what must not be shown or kept.
///
/// By bytes: a sign with a combining character behind it is one character, and a sign all the same. Texts that are no
/// URL are looked through as well as others, since they are shown in turn: behind the scheme there may be any number of
/// slashes, and backslashes for them; without a slash there is no scheme, for `user:password@host` has none.
package enum UserInformation {
    /// The text without what stands before the last `@` of its authority, and without that.
    package static func removed(from text: String) -> String {
        var text = text
        let rest: String? = text.withUTF8 { bytes in
            guard let place = place(in: bytes) else { return nil }
            return String(decoding: bytes[..<place.lowerBound], as: UTF8.self)
                + String(decoding: bytes[(place.upperBound + 1)...], as: UTF8.self)
        }
        return rest ?? text
    }

    /// The user that the text names: what stands before the first colon of the user information, as it is written. Nil
    /// when there is none.
    package static func user(in text: String) -> String? {
        var text = text
        return text.withUTF8 { bytes in
            guard let place = place(in: bytes) else { return nil }
            return String(decoding: bytes[place].prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        }
    }

    /// Where the authority of a text is, user information included.
    package static func authority(in text: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        var start = 0
        if let end = text.firstIndex(where: { ":/?#@\\".utf8.contains($0) }), text[end] == UInt8(ascii: ":"),
            end + 1 < text.count, isSlash(text[end + 1])
        {
            start = end + 1
        }
        while start < text.count, isSlash(text[start]) { start += 1 }
        return start..<(text[start...].firstIndex { "/?#".utf8.contains($0) } ?? text.count)
    }

    /// Where the user information is, without the `@` behind it.
    private static func place(in text: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        let authority = authority(in: text)
        return text[authority].lastIndex(of: UInt8(ascii: "@")).map { authority.lowerBound..<$0 }
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
}
