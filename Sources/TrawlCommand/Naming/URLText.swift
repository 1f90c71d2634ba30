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
