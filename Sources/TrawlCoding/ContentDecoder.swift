// TrawlCoding takes codings off bodies: chunked framing and content codings, both of them hostile input. It hands bytes
// on as they come, keeps none of them, and never allocates what a body declares. It knows no sockets, files or clocks.

/// Undoes the content codings of one body, piece by piece.
///
/// A chain of layers, the coding applied last being undone first (RFC 9110 §8.4). Memory is bounded by the number of
/// layers, whatever the body declares or unfolds to. Bound to the thread of the pool it comes from.
///
/// - A body of no bytes decodes to no bytes under any coding: responses to HEAD, 204 and 304 name codings too.
/// - Bytes after the end of the coded data are ignored and counted in `ignoredBytes`, as gzip(1) and browsers do.
///   After a gzip member, zero padding and further members are understood; a member once begun must be whole.
/// - Without a coding to undo, pieces are handed on as they are, uncopied and unlimited.
package final class ContentDecoder {
    enum Layer {
        case inflate(InflateLayer)
        case brotli(BrotliLayer)
    }

    private enum State {
        case idle
        case decoding
        case finished
        case failed(DecodingError)
    }

    private let scratch: DecoderScratch
    private var state: State = .idle
    private var limits: DecodingLimits = .default
    /// In the order of undoing, with the bytes each has produced.
    private var layers: [(layer: Layer, produced: Int)] = []
    /// Bytes the first layer has used up. The ratio is taken from these, so it does not depend on how input is cut.
    private var consumedBytes = 0

    /// What is undone and what stays on the decoded bytes.
    package private(set) var chain = CodingChain([])
    /// Bytes received.
    package private(set) var encodedBytes = 0
    /// Bytes handed on.
    package private(set) var decodedBytes = 0

    init(scratch: DecoderScratch) {
        self.scratch = scratch
    }

    /// Bytes after the end of the coded data, over all layers; not zero is worth a warning.
    package var ignoredBytes: Int {
        var sum = 0
        for (layer, _) in layers {
            switch layer {
            case .inflate(let layer): sum += layer.ignoredBytes
            case .brotli(let layer): sum += layer.ignoredBytes
            }
        }
        return sum
    }

    /// Decodes the next piece of the body.
    ///
    /// - Parameters:
    ///   - input: Any number of bytes; not used after the call.
    ///   - body: Receives decoded bytes in order, at most 64 KiB at a time when a coding is undone. They are valid
    ///     during the call only. It must not use another decoder of the same pool; it may throw `.refused`.
    /// - Throws: What ended the decoding; the same error again on every later call.
    package func decode(
        _ input: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(DecodingError) -> Void
    ) throws(DecodingError) {
        switch state {
        case .decoding: break
        case .failed(let error): throw error
        case .idle, .finished: preconditionFailure("a decoder is used between take and finish")
        }
        guard !input.isEmpty else { return }
        encodedBytes += input.count
        do throws(DecodingError) {
            if layers.isEmpty {
                decodedBytes += input.count
                try body(input)
            } else {
                precondition(!scratch.isInUse, "decoders of one pool do not run inside one another")
                scratch.isInUse = true
                defer { scratch.isInUse = false }
                try push(input, depth: 0, body)
            }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Says that the body has ended.
    ///
    /// - Throws: `truncated` when a coding has not; an earlier error again.
    package func finish() throws(DecodingError) {
        switch state {
        case .decoding: break
        case .failed(let error): throw error
        case .finished: return
        case .idle: preconditionFailure("a decoder is used between take and finish")
        }
        if encodedBytes > 0 {
            for (index, (layer, _)) in layers.enumerated() where !isComplete(layer) {
                let error = DecodingError.truncated(chain.undone[index])
                state = .failed(error)
                throw error
            }
        }
        state = .finished
    }

    /// Gets ready for a body; its layers follow.
    func begin(_ chain: CodingChain, limits: DecodingLimits) {
        self.chain = chain
        self.limits = limits
        encodedBytes = 0
        decodedBytes = 0
        consumedBytes = 0
        state = .decoding
    }

    /// Adds the layer to undo after those already there.
    func append(_ layer: Layer) {
        layers.append((layer, 0))
    }

    /// Hands the layers over and forgets the body.
    func end(_ collect: (Layer) -> Void) {
        if case .idle = state { preconditionFailure("a decoder is given back once") }
        for (layer, _) in layers {
            collect(layer)
        }
        layers.removeAll(keepingCapacity: true)
        state = .idle
    }

    private func push(
        _ input: UnsafeRawBufferPointer, depth: Int,
        _ body: (UnsafeRawBufferPointer) throws(DecodingError) -> Void
    ) throws(DecodingError) {
        var input = input
        let layer = layers[depth].layer
        let output = scratch.buffer(at: depth)
        var produced: Int
        repeat {
            let before = input.count
            switch layer {
            case .inflate(let layer): produced = try layer.step(&input, into: output)
            case .brotli(let layer): produced = try layer.step(&input, into: output)
            }
            if depth == 0 { consumedBytes += before - input.count }
            guard produced > 0 else { continue }
            layers[depth].produced += produced
            try limits.check(produced: layers[depth].produced, consumed: consumedBytes)
            let piece = UnsafeRawBufferPointer(rebasing: output[..<produced])
            if depth + 1 < layers.count {
                try push(piece, depth: depth + 1, body)
            } else {
                decodedBytes += produced
                try body(piece)
            }
        } while !input.isEmpty || produced == output.count
    }

    private func isComplete(_ layer: Layer) -> Bool {
        switch layer {
        case .inflate(let layer):
            layer.finish()
            return layer.isComplete
        case .brotli(let layer):
            return layer.isComplete
        }
    }
}
