import TrawlHTTP

extension Response {
    /// A name for a file of this body: that of `Content-Disposition` (RFC 6266), else the last part of the URL's path,
    /// else the host; a name without an extension gets that of the media type.
    ///
    /// It is one name that is safe to use in any directory: no separator, no control character, no dot in front.
    public var suggestedFilename: String {
        let rest = url.drop { $0 != ":" }.dropFirst(3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.dropFirst(authority.count).prefix { $0 != "?" && $0 != "#" }
        var host = authority[...]
        // A port is digits after the last colon; the colons of an IPv6 address end with a bracket.
        if let colon = host.lastIndex(of: ":"), host[colon...].dropFirst().allSatisfy(\.isNumber) {
            host = host[..<colon]
        }
        return SuggestedFileName(fields: fields.lines, path: String(path), host: String(host)).text
    }
}
