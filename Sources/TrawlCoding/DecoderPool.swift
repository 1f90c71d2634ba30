/// Keeps decoders, zlib states and output buffers for reuse, so that a gzip body costs no allocation in the long run.
///
/// Bound to one thread, with all its decoders. Brotli states are made per body.
package final class DecoderPool {
    private let capacity: Int
    private let scratch = DecoderScratch()
    private var decoders: [ContentDecoder] = []
    private var inflaters: [InflateLayer] = []
    private let brotliMemory: BrotliMemory
    /// What all states of brotli have together, unless told otherwise: 64 windows of 4 MiB, which is what encoders have
    /// by default, with what stands behind each, and half a MiB of tables for each.
    package static let usualBrotliBytes = 288 << 20

    /// An empty pool.
    ///
    /// - Parameters:
    ///   - capacity: How many idle decoders and how many idle zlib states (about 40 KiB each) are kept.
    ///   - brotliBytes: What all states of brotli have together, beyond which a body gets room for a window of 1 MiB at
    ///     most.
    package init(capacity: Int = 32, brotliBytes: Int = usualBrotliBytes) {
        self.capacity = capacity
        brotliMemory = BrotliMemory(most: brotliBytes)
    }

    /// A decoder for one body. Give it back when the body has ended, in whatever way.
    package func take(
        for codings: [ContentCoding], limits: DecodingLimits = .default
    ) throws(DecodingError) -> ContentDecoder {
        let chain = CodingChain(codings)
        guard chain.undone.count <= limits.layers else { throw .tooManyLayers(limit: limits.layers) }
        // Nobody does that: br is denser than any coding of its output.
        guard chain.undone.count(where: { $0 == .brotli }) <= 1 else { throw .stackedBrotli }
        let decoder = decoders.popLast() ?? ContentDecoder(scratch: scratch)
        decoder.begin(chain, limits: limits)
        for coding in chain.undone {
            switch coding {
            case .gzip: decoder.append(.inflate(try inflater(for: .gzip)))
            case .deflate: decoder.append(.inflate(try inflater(for: .deflate)))
            case .brotli: decoder.append(.brotli(try BrotliLayer(brotliMemory)))
            case .identity, .unknown: break
            }
        }
        return decoder
    }

    /// Takes back a decoder of this pool, which its user forgets.
    package func give(_ decoder: ContentDecoder) {
        decoder.end { layer in
            if case .inflate(let inflater) = layer, inflaters.count < capacity {
                inflaters.append(inflater)
            }
        }
        if decoders.count < capacity {
            decoders.append(decoder)
        }
    }

    private func inflater(for format: InflateLayer.Format) throws(DecodingError) -> InflateLayer {
        let inflater: InflateLayer
        if let idle = inflaters.popLast() {
            inflater = idle
        } else {
            inflater = try InflateLayer()
        }
        try inflater.reset(for: format)
        return inflater
    }
}

/// The output buffer shared by the decoders of a pool.
final class DecoderScratch {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)
    /// Set while a decoder runs: a second one inside its callback would overwrite the first one's bytes.
    var isInUse = false

    deinit {
        buffer.deallocate()
    }
}
