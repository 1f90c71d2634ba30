extension FieldLines {
    /// The URI reference in the first line of that name that is not empty, as in `Location`; nil when there is none.
    package func reference(_ name: String) -> String? {
        var found: String?
        forEach { lineName, value in
            guard found == nil, !value.isEmpty, FieldSyntax.equalIgnoringCase(lineName, name) else { return }
            found = Self.reference(of: value)
        }
        return found
    }

    /// The URI reference that a field's value is. An empty one means what it is resolved against (RFC 3986 §5.2.2).
    ///
    /// A URI is ASCII (RFC 3986 §2), and not every sender's is. What is UTF-8 is text; of other values each byte outside
    /// ASCII is percent-encoded, so that the reference names the bytes that came and not characters somebody guessed.
    package static func reference(of value: UnsafeRawBufferPointer) -> String {
        utf8Text(value) ?? PercentEncoding.text(of: value)
    }
}
