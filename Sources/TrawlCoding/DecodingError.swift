/// Why a body could not be decoded.
///
/// Bytes handed on before the error are what the body began with; nothing can be said about their correctness.
package enum DecodingError: Error, Sendable, Hashable {
    /// More codings to undo than `DecodingLimits.layers`.
    case tooManyLayers(limit: Int)
    /// A body in br, and that in br again.
    case stackedBrotli
    /// The bytes are not of that coding, or a checksum or length does not match. The reason is the library's.
    case corrupt(ContentCoding, reason: String)
    /// The body ended before the coding did.
    case truncated(ContentCoding)
    /// A layer went past `DecodingLimits.decodedBytes`.
    case tooLarge(limit: Int)
    /// A layer went past `DecodingLimits.ratio`.
    case ratioTooHigh(limit: Int)
    /// The library could not allocate its state or window.
    case outOfMemory
    /// The bodies in br that are being decoded have as much memory as they may have together.
    case tooMuchMemory(limit: Int)
    /// Thrown by the receiver of decoded bytes that takes no more.
    case refused
}
