/// What `Content-Range` says of the body of a 206.
///
/// - Source: RFC 9110 §14.4.
package struct ContentRange: Sendable, Hashable {
    /// The bytes, by their places in the representation.
    package var range: Range<UInt64>
    /// The length of the whole representation, when it is known.
    package var total: UInt64?

    /// How many bytes. (`count` of such a range traps above half of what its numbers hold.)
    package var length: UInt64 { range.upperBound - range.lowerBound }

    /// The range of a field value, or nil when it is another unit, an unsatisfied range or not well formed.
    package init?(field value: UnsafeRawBufferPointer) {
        let text = FieldSyntax.trimmed(value)
        guard text.count > 6, text[5] == UInt8(ascii: " "),
            FieldSyntax.equalIgnoringCase(UnsafeRawBufferPointer(rebasing: text[..<5]), "bytes")
        else { return nil }
        let rest = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: text[6...]))
        guard let dash = rest.firstIndex(of: UInt8(ascii: "-")), let slash = rest.firstIndex(of: UInt8(ascii: "/")),
            dash < slash, let first = FieldSyntax.decimal(UnsafeRawBufferPointer(rebasing: rest[..<dash])),
            let last = FieldSyntax.decimal(UnsafeRawBufferPointer(rebasing: rest[(dash + 1)..<slash])), first <= last,
            last < .max
        else { return nil }
        let length = UnsafeRawBufferPointer(rebasing: rest[(slash + 1)...])
        if length.count == 1, length[0] == UInt8(ascii: "*") {
            total = nil
        } else {
            guard let number = FieldSyntax.decimal(length), last < number else { return nil }
            total = number
        }
        range = first..<(last + 1)
    }

    /// The only `Content-Range` of a head, or nil.
    package init?(_ fields: FieldLines) {
        var found: ContentRange?
        var lines = 0
        fields.forEach { name, value in
            guard FieldSyntax.equalIgnoringCase(name, "Content-Range") else { return }
            lines += 1
            found = lines == 1 ? ContentRange(field: value) : nil
        }
        guard let found else { return nil }
        self = found
    }
}
