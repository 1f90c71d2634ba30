import CTrawlBrotli

/// One layer of brotli, for one body: the library cannot start a state afresh.
///
/// The window is as large as the body declares, up to the 16 MiB of RFC 7932 §9.1, and counts in `BrotliMemory`. The
/// library hands nothing out until it has filled the window or used up the input, so limits take effect that much
/// later: a bomb costs up to 16 MiB of decoding, some milliseconds, before the first look at them.
final class BrotliLayer {
    private let memory: BrotliMemory
    private let decoder: OpaquePointer
    private(set) var isComplete = false
    /// Bytes after the end of the coded data.
    private(set) var ignoredBytes = 0

    init(_ memory: BrotliMemory) throws(DecodingError) {
        guard let decoder = cbrotli_decoder_create(memory.counter) else { throw .outOfMemory }
        self.memory = memory
        self.decoder = decoder
    }

    deinit {
        BrotliDecoderDestroyInstance(decoder)
    }

    /// Uses up some input and produces some output. Call again while input is left or the output was filled.
    ///
    /// - Returns: Bytes written to `output`.
    func step(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(DecodingError) -> Int {
        guard !isComplete else {
            ignoredBytes += input.count
            input = UnsafeRawBufferPointer(start: nil, count: 0)
            return 0
        }
        var availableIn = input.count
        var nextIn = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var availableOut = output.count
        var nextOut = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = BrotliDecoderDecompressStream(
            decoder, &availableIn, &nextIn, &availableOut, &nextOut, nil)
        let consumed = input.count - availableIn
        let produced = output.count - availableOut
        input = UnsafeRawBufferPointer(rebasing: input[consumed...])
        switch result {
        case BROTLI_DECODER_RESULT_SUCCESS:
            isComplete = true
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
            guard consumed > 0 || produced > 0 || input.isEmpty else {
                throw .corrupt(.brotli, reason: "no progress")
            }
        default:
            throw failure()
        }
        return produced
    }

    private func failure() -> DecodingError {
        let code = BrotliDecoderGetErrorCode(decoder)
        // The library's codes -21 to -30 are failed allocations.
        if (-30 ... -21).contains(Int(code.rawValue)) {
            return memory.takeRefusal() ? .tooMuchMemory(limit: memory.most) : .outOfMemory
        }
        guard let text = BrotliDecoderErrorString(code) else { return .corrupt(.brotli, reason: "invalid data") }
        return .corrupt(.brotli, reason: String(cString: text))
    }
}
