import TrawlHTTP

/// A cookie that a request has of its own, whatever the jar holds.
package struct ManualCookie: Sendable, Hashable {
    /// The name, which may be empty.
    package let name: [UInt8]
    /// The value.
    package let value: [UInt8]

    /// A cookie that can stand in a field: no control bytes but tabs, no semicolon, no equals sign in its name.
    package init(name: [UInt8], value: [UInt8]) throws(CookieRefusal) {
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        let semicolon = UInt8(ascii: ";")
        guard name.withUnsafeBytes({ $0.isFreeOfControls() }), value.withUnsafeBytes({ $0.isFreeOfControls() }),
            !name.contains(semicolon), !value.contains(semicolon), !name.contains(UInt8(ascii: "="))
        else { throw .forbiddenByte }
        self.name = name
        self.value = value
    }

    /// A cookie of texts.
    package init(_ name: String, _ value: String) throws(CookieRefusal) {
        try self.init(name: Array(name.utf8), value: Array(value.utf8))
    }

    /// The cookies of a field value as in `a=1; b=2`. Empty ones are left out; spaces around names and values too.
    package static func list(_ field: UnsafeRawBufferPointer) throws(CookieRefusal) -> [ManualCookie] {
        var cookies: [ManualCookie] = []
        for part in field.split(separator: UInt8(ascii: ";")) {
            let pair = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: part))
            if pair.isEmpty { continue }
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
                cookies.append(try ManualCookie(name: [], value: Array(pair)))
                continue
            }
            let name = FieldSyntax.trimmed(pair.from(0, upTo: equals))
            let value = FieldSyntax.trimmed(pair.from(equals + 1, upTo: pair.count))
            if name.isEmpty, value.isEmpty { continue }
            cookies.append(try ManualCookie(name: Array(name), value: Array(value)))
        }
        return cookies
    }
}
