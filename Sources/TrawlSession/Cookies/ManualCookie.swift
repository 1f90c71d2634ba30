import TrawlHTTP

/// What a request has of its own for its `Cookie` field, whatever the jar holds: a cookie, or a text without a name,
/// perhaps of several cookies, that is sent as it stands.
package struct ManualCookie: Sendable, Hashable {
    /// The name; empty for a text.
    package let name: [UInt8]
    /// The value, or the text.
    package let value: [UInt8]
    /// The names of the cookies in it. Stored ones of these names are left out.
    let names: [[UInt8]]

    /// A cookie that can stand in a field: no control bytes but tabs, no equals sign in its name, and no semicolon but
    /// in a text.
    package init(name: [UInt8], value: [UInt8]) throws(CookieRefusal) {
        guard name.withUnsafeBytes({ $0.isFreeOfControls() }), value.withUnsafeBytes({ $0.isFreeOfControls() }),
            !name.contains(Self.semicolon), !name.contains(Self.equals),
            name.isEmpty || !value.contains(Self.semicolon)
        else { throw .forbiddenByte }
        self.name = name
        // Spaces around a field value are no part of it (RFC 9110 §5.5).
        self.value = name.isEmpty ? value.withUnsafeBytes { Array(FieldSyntax.trimmed($0)) } : value
        if name.isEmpty, self.value.isEmpty { throw .empty }
        names = name.isEmpty ? value.withUnsafeBytes(Self.cookieNames) : [name]
    }

    /// A cookie of texts.
    package init(_ name: String, _ value: String) throws(CookieRefusal) {
        try self.init(name: Array(name.utf8), value: Array(value.utf8))
    }

    /// The field value of some, in their order.
    package static func field(of cookies: [ManualCookie]) -> [UInt8] {
        var field: [UInt8] = []
        for cookie in cookies {
            separate(&field)
            if !cookie.name.isEmpty {
                field += cookie.name
                field.append(equals)
            }
            field += cookie.value
        }
        return field
    }

    /// Adds what stands between two cookies to a field, unless it is empty. A text may end in a semicolon.
    static func separate(_ field: inout [UInt8]) {
        guard let last = field.last else { return }
        if last != semicolon { field.append(semicolon) }
        field.append(UInt8(ascii: " "))
    }

    /// The names in a field value as in `a=1; b=2`, as servers see them; one without an equals sign has an empty name.
    private static func cookieNames(in text: UnsafeRawBufferPointer) -> [[UInt8]] {
        text.split(separator: semicolon).compactMap { part -> [UInt8]? in
            let pair = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: part))
            guard let end = pair.firstIndex(of: equals) else { return pair.isEmpty ? nil : [] }
            return pair.count == 1 ? nil : Array(FieldSyntax.trimmed(pair.from(0, upTo: end)))
        }
    }

    private static let semicolon = UInt8(ascii: ";")
    private static let equals = UInt8(ascii: "=")
}
