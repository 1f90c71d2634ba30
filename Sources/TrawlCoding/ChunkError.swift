/// Why a chunked body is not one. The connection it came on is useless afterwards.
package enum ChunkError: Error, Sendable, Hashable {
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
    /// The input ended before the body did.
    case truncated
}
