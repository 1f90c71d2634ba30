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
    private let limits = DecodingLimits(decodedBytes: .max)

    /// Hands out a body.
    ///
    /// - Parameters:
    ///   - decodes: Whether content codings are undone.
    ///   - write: Takes the next bytes, which are valid during the call only.
    func deliver(
        _ item: StoredItem, decodes: Bool, to write: (UnsafeRawBufferPointer) throws(SystemError) -> Void
    ) throws(Failure) {
        guard let body = item.body else { return }
        let codings = decodes ? ContentCoding.list(item.response.head.fields.values("Content-Encoding")) : []
        if CodingChain(codings).undone.isEmpty {
            return try read(body) { (bytes) throws(Failure) in
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
        try read(body) { (bytes) throws(Failure) in try decode(bytes, decoder, to: write) }
        do throws(DecodingError) { try decoder.finish() } catch { throw .coding("\(error)") }
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

    private func read(
        _ body: TrawlStore.StoredBody, _ each: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        switch body {
        case .bytes(let bytes):
            try bytes.span.withUnsafeBytes { (bytes) throws(Failure) in try each(bytes) }
        case .blob(let reader):
            var failure: Failure?
            do throws(BlobError) {
                try reader.read(0..<reader.length) { bytes in
                    do throws(Failure) {
                        try each(bytes)
                        return true
                    } catch {
                        failure = error
                        return false
                    }
                }
            } catch {
                throw .damaged
            }
            if let failure { throw failure }
        }
    }
}
