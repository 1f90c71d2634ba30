import TrawlCoding
import TrawlHTTP

extension ResponseBody {
    /// The body with its content codings undone, for a fetch with ``RequestOptions/ContentDecoding/onRead``.
    ///
    /// Decoding happens at each call. A body that came decoded is given back as it is, and so is that of a 206: a part
    /// of what is coded cannot be decoded.
    /// - Throws: ``FetchError/Code/decoding`` when a coding is damaged or over the request's limits.
    public func decoded() throws(FetchError) -> [UInt8] {
        try decodedStorage().bytes
    }

    /// The body with its content codings undone; one that has none is not copied.
    func decodedStorage() throws(FetchError) -> ResponseBody {
        if !isCoded { return self }
        var plain: [UInt8] = []
        do throws(DecodingError) {
            try decode(into: &plain)
        } catch {
            throw FetchError(.decoding, "\(error)")
        }
        return ResponseBody(.bytes(plain))
    }

    /// What comes through before a coding turns out damaged.
    func decodedAsFarAsPossible() -> ResponseBody {
        if !isCoded { return self }
        var plain: [UInt8] = []
        try? decode(into: &plain)
        return ResponseBody(.bytes(plain))
    }

    private var isCoded: Bool {
        !codings.isEmpty && !CodingChain(ContentCoding.list(codings)).undone.isEmpty
    }

    private func decode(into plain: inout [UInt8]) throws(DecodingError) {
        var limits = DecodingLimits()
        limits.layers = self.limits.codingLayers
        limits.ratio = self.limits.codingRatio == 0 ? .max : self.limits.codingRatio
        limits.decodedBytes = Int(clamping: min(self.limits.bodyBytes ?? .max, self.limits.memoryBytes))
        let decoder = try DecoderPool(capacity: 1).take(for: ContentCoding.list(codings), limits: limits)
        try withUnsafeBytes { (encoded) throws(DecodingError) in
            try decoder.decode(encoded) { plain.append(contentsOf: $0) }
            try decoder.finish()
        }
    }
}

extension TrawlHTTP.ResponseHead {
    /// The content codings that can be undone: none of a part of a coded representation (RFC 9110 §14.4).
    var codingsToUndo: [String] { status == 206 ? [] : fields.values("Content-Encoding") }
}
