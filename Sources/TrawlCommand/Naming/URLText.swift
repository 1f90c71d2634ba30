/// URLs as people write them.
enum URLText {
    /// The URL with `http://` before it when it has no scheme, as in curl.
    static func completed(_ text: String) -> String {
        let beforePath = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return beforePath.hasSuffix(":") && text.dropFirst(beforePath.count).hasPrefix("//") ? text : "http://" + text
    }
}
