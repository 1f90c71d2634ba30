import TrawlCache
import TrawlCoding
import TrawlHTTP
import TrawlPlatform
import TrawlStore

/// Hands out stored bodies piece by piece.
///
/// Bound to one thread.
final class StoredBytes {
    /// Why a body could not be handed out to its end.
    enum Failure: Error, Equatable {
        /// It is not what was stored.
        case damaged
        /// Its content coding is broken, or unfolds beyond all measure; so it came from the server.
        case coding(String)
        /// The destination failed.
        case output(SystemError)
    }

    private let decoders = DecoderPool(capacity: 1)
    private let memory = ChunkMemory()
    private let limits = DecodingLimits(decodedBytes: .max)

    /// Hands out a body.
    ///
    /// - Parameters:
    ///   - decodes: Whether content codings are undone.
    ///   - file: The file that `write` writes to, if it is one and stands where the body begins: it may come to share the
    ///     blocks of the stored one.
    ///   - write: Takes the next bytes, which are valid during the call only.
    /// - Returns: How many bytes were not handed to `write`, since the file shares them.
    @discardableResult
    func deliver(
        _ item: StoredItem, decodes: Bool, into file: Int32? = nil,
        to write: (UnsafeRawBufferPointer) throws(SystemError) -> Void
    ) throws(Failure) -> UInt64 {
        guard let body = item.body else { return 0 }
        let codings = decodes ? ContentCoding.list(item.response.head.fields.values("Content-Encoding")) : []
        if CodingChain(codings).undone.isEmpty {
            return try read(body, into: file) { (bytes) throws(Failure) in
                do throws(SystemError) { try write(bytes) } catch { throw .output(error) }
            }
        }
        let decoder: ContentDecoder
        do throws(DecodingError) {
            decoder = try decoders.take(for: codings, limits: limits)
        } catch {
            throw .coding("\(error)")
        }
        defer { decoders.give(decoder) }
        _ = try read(body, into: nil) { (bytes) throws(Failure) in try decode(bytes, decoder, to: write) }
        do throws(DecodingError) { try decoder.finish() } catch { throw .coding("\(error)") }
        return 0
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, _ decoder: ContentDecoder,
        to write: (UnsafeRawBufferPointer) throws(SystemError) -> Void
    ) throws(Failure) {
        var refusal: SystemError?
        do throws(DecodingError) {
            try decoder.decode(bytes) { (decoded) throws(DecodingError) in
                do throws(SystemError) {
                    try write(decoded)
                } catch {
                    refusal = error
                    throw .refused
                }
            }
        } catch {
            if let refusal { throw .output(refusal) }
            throw .coding("\(error)")
        }
    }

    /// - Returns: How many bytes the file shares, and were not handed out.
    private func read(
        _ body: TrawlStore.StoredBody, into file: Int32?,
        _ each: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) -> UInt64 {
        switch body {
        case .bytes(let bytes):
            try bytes.span.withUnsafeBytes { (bytes) throws(Failure) in try each(bytes) }
            return 0
        case .blob(let reader):
            var shared: UInt64 = 0
            var position: UInt64 = 0
            while position < reader.length {
                let piece: UnsafeRawBufferPointer
                do throws(BlobError) {
                    piece = try reader.piece(position..<reader.length, in: memory)
                } catch {
                    throw .damaged
                }
                let end = position + UInt64(piece.count)
                if let file, shared == position, reader.share(position..<end, with: file) {
                    shared = end
                } else {
                    try each(piece)
                }
                position = end
            }
            return shared
        }
    }
}
