package import TrawlHTTP

extension URLParser {
    /// The target that a reference means in the context of another one, as in `Location`.
    ///
    /// User information in the reference is ignored. A reference without a fragment inherits that of `base`
    /// (RFC 9110 §10.2.2).
    ///
    /// - Source: RFC 3986 §5.2.
    package func resolve(_ reference: String, against base: TargetURI) throws(URLFailure) -> TargetURI {
        guard reference.utf8.count <= Self.maximumLength else { throw .tooLong }
        if let latest, latest.isOf(reference, base) { return latest.target }
        let parts = URIReference(reference)
        var result = try parse(Self.absolute(parts, reference, base), withUser: false)
        if parts.fragment == nil { result.fragment = base.fragment }
        latest = Resolved(reference: reference, base: base.text, fragment: base.fragment, target: result)
        return result
    }

    /// RFC 3986 §5.2.2, without removing dot segments: parsing the result does that.
    private static func absolute(_ parts: URIReference, _ reference: String, _ base: TargetURI) -> String {
        if parts.scheme != nil { return reference }
        if parts.authority != nil { return base.scheme + ":" + reference }
        var text = base.text
        // `text` ends with path and query.
        let tail = base.path.utf8.count + (base.query.map { $0.utf8.count + 1 } ?? 0)
        text.removeLast(utf8: tail)
        var query = parts.query
        if parts.path.isEmpty {
            text += base.path
            if query == nil { query = base.query.map { $0[...] } }
        } else if parts.path.utf8.first == UInt8(ascii: "/") {
            text += parts.path
        } else {
            // RFC 3986 §5.2.3: everything up to the last slash of the base.
            let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/"))
            text += slash.map { String(decoding: base.path.utf8[...$0], as: UTF8.self) } ?? "/"
            text += parts.path
        }
        if let query { text += "?" + query }
        if let fragment = parts.fragment { text += "#" + fragment }
        return text
    }
}

extension URLParser.Resolved {
    /// Whether it is what a reference means in the context of a target, byte for byte: Swift's text takes an accent that
    /// stands alone for the same as one within its letter (Unicode's canonical equivalence), and a URL does not.
    fileprivate func isOf(_ reference: String, _ base: TargetURI) -> Bool {
        guard self.reference.hasSameBytes(as: reference), self.base.hasSameBytes(as: base.text) else { return false }
        switch (fragment, base.fragment) {
        case (nil, nil): return true
        case (let mine?, let other?): return mine.hasSameBytes(as: other)
        default: return false
        }
    }
}

extension String {
    /// Removes so many bytes at the end, which must be whole characters of ASCII.
    fileprivate mutating func removeLast(utf8 count: Int) {
        self = String(self[..<utf8.index(endIndex, offsetBy: -count)])
    }
}
