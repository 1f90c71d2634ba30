import TrawlCoding
import TrawlHTTP

extension ResponseBody {
    /// The body with its content codings undone, for a fetch with ``RequestOptions/ContentDecoding/onRead``.
    ///
    /// Decoding happens at each call. A body that came decoded is given back as it is.
    /// - Throws: ``FetchError/Code/decoding`` when a coding is damaged or over the request's limits.
    public func decoded() throws(FetchError) -> [UInt8] {
        let codings = ContentCoding.list(codings)
        if CodingChain(codings).undone.isEmpty { return bytes }
        var limits = DecodingLimits()
        limits.layers = self.limits.codingLayers
        limits.ratio = self.limits.codingRatio == 0 ? .max : self.limits.codingRatio
        limits.decodedBytes = Int(clamping: min(self.limits.bodyBytes ?? .max, self.limits.memoryBytes))
        do throws(DecodingError) {
            let decoder = try DecoderPool(capacity: 1).take(for: codings, limits: limits)
            var plain: [UInt8] = []
            let failure: DecodingError? = withUnsafeBytes { encoded in
                do throws(DecodingError) {
                    try decoder.decode(encoded) { plain.append(contentsOf: $0) }
                    try decoder.finish()
                    return nil
                } catch {
                    return error
                }
            }
            if let failure { throw failure }
            return plain
        } catch {
            throw FetchError(.decoding, "\(error)")
        }
    }
}
