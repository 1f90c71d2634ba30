/// Why a chunked body is not one. The connection it came on is useless afterwards.
package enum ChunkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A chunk size has no digit, or something other than an extension follows its digits.
    case invalidSize
    /// A chunk size has more than 16 digits or is above 2^63 - 1.
    case sizeTooLarge
    /// A chunk extension holds a control byte.
    case invalidExtension
    /// Extensions go past one of the limits.
    case extensionTooLong
    /// LF without CR ends a line.
    case bareLF
    /// CR is not followed by LF.
    case bareCR
    /// Something other than CR LF follows the content of a chunk.
    case contentOverrun
    /// A trailer field line is not one.
    case invalidTrailer
    /// The trailer section goes past one of the limits.
    case trailerTooLarge
    /// The input ended before the body did. No decoder says so, since none sees the end: whoever does, and finds the
    /// body not complete.
    case truncated

    /// In words, for a person.
    package var description: String {
        switch self {
        case .invalidSize: "the size of a chunk is not a number"
        case .sizeTooLarge: "the size of a chunk is too large"
        case .invalidExtension: "a chunk extension holds a control byte"
        case .extensionTooLong: "the chunk extensions are too long"
        case .bareLF: "a line ends with LF alone"
        case .bareCR: "a line ends with CR alone"
        case .contentOverrun: "a chunk is longer than its size"
        case .invalidTrailer: "a trailer is not a field line"
        case .trailerTooLarge: "the trailers are too long"
        case .truncated: "the chunked body has no end"
        }
    }
}
