/// A text as a key, by its bytes.
///
/// Swift takes texts for equal that Unicode has as equivalent: an accent that stands alone behind its letter, and the
/// two as one sign. Names of files, passwords and values of fields are bytes, so that two such texts are two.
package struct ExactText: Sendable, Hashable {
    /// The text itself.
    package let text: String

    /// The key that a text is.
    package init(_ text: String) { self.text = text }

    package static func == (one: ExactText, other: ExactText) -> Bool { one.text.hasSameBytes(as: other.text) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether another text is the same byte for byte, which `==` does not tell.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
