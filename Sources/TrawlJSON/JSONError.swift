/// Why a text is not the JSON that was wanted.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package enum Reason: Sendable, Hashable {
        /// The text ends too early.
        case truncated
        /// A byte stands where the grammar does not allow it.
        case unexpectedByte
        /// A value of another kind is here.
        case expected(JSONKind)
        /// More objects and arrays inside one another than the reader takes.
        case tooDeep
        /// The bytes are not UTF-8.
        case notUTF8
        /// A control character stands in a string as it is (RFC 8259 §7).
        case controlCharacter
        /// A backslash is followed by none of the escapes there are.
        case badEscape
        /// `\uD800` to `\uDFFF` without its other half: no character, so there is no UTF-8 for it (RFC 8259 §8.2).
        case loneSurrogate
        /// A character above U+00FF where each stands for a byte.
        case notLatin1
        /// Not the Base64 of any bytes (RFC 4648 §4).
        case badBase64
        /// Something follows the value.
        case trailingBytes
    }

    /// What is wrong.
    package let reason: Reason
    /// Where, in bytes from the start of the text.
    package let offset: Int

    /// An error at that place.
    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason in words, and the place.
    package var description: String { "\(words) at byte \(offset + 1)" }

    private var words: String {
        switch reason {
        case .truncated: "the JSON text ends too early"
        case .unexpectedByte: "not JSON"
        case .expected(let kind): "\(kind.words) was expected"
        case .tooDeep: "objects or arrays are nested too deep"
        case .notUTF8: "not UTF-8"
        case .controlCharacter: "a control character in a string is not escaped"
        case .badEscape: "an unknown escape in a string"
        case .loneSurrogate: "half a surrogate pair in a string"
        case .notLatin1: "a character above U+00FF"
        case .badBase64: "not Base64"
        case .trailingBytes: "something follows the JSON value"
        }
    }
}

/// The kinds of JSON values.
///
/// - Source: RFC 8259 §3.
package enum JSONKind: Sendable, Hashable {
    /// `{…}`
    case object
    /// `[…]`
    case array
    /// `"…"`
    case string
    /// Digits, with sign, point and exponent perhaps.
    case number
    /// `true` or `false`.
    case bool
    /// `null`
    case null

    var words: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}
