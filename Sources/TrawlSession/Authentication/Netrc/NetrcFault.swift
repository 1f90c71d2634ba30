/// Why a netrc file cannot be read. Never says what stands in it.
package struct NetrcFault: Error, Sendable, Hashable {
    /// What is wrong.
    package enum Reason: Sendable, Hashable {
        /// A quoted word does not end on its line.
        case unendedQuote
        /// The file ends where a value should be.
        case missingValue
        /// A byte no text has, or one that is not UTF-8.
        case notText
        /// The file, a word, or the number of entries is above the limit.
        case tooLarge
    }

    /// What is wrong.
    package let reason: Reason
    /// Where, from 1; 0 when it is about the file as a whole.
    package let line: Int

    /// What a person is told.
    package var explanation: String {
        let text =
            switch reason {
            case .unendedQuote: "a quoted word has no end"
            case .missingValue: "the file ends where a value should be"
            case .notText: "this is not text"
            case .tooLarge: "this is too large"
            }
        return line > 0 ? "line \(line): \(text)" : text
    }
}
