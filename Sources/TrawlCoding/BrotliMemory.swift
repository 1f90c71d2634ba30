import CTrawlBrotli

/// What all brotli decoders of a pool have of the memory, with a bound.
///
/// A window has up to 16 MiB (RFC 7932 §9.1), and a dozen bytes are enough to have it made and filled, before any limit
/// sees a byte that was decoded. Up to the bound bodies get what they ask for; beyond it only as much as a window of
/// 1 MiB takes, so that what holds the rest keeps no ordinary body from being decoded.
final class BrotliMemory {
    let most: Int
    /// Outlives the decoders that count here, which hold this object.
    let counter: UnsafeMutablePointer<cbrotli_memory>

    init(most: Int) {
        self.most = most
        counter = .allocate(capacity: 1)
        counter.initialize(to: cbrotli_memory(used: 0, most: most, is_refused: 0))
    }

    deinit {
        counter.deallocate()
    }

    /// Whether the bound was why a decoder got no memory, since this was asked last.
    func takeRefusal() -> Bool {
        defer { counter.pointee.is_refused = 0 }
        return counter.pointee.is_refused != 0
    }
}
