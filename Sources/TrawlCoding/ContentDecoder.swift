// TrawlCoding takes codings off bodies: chunked framing and content codings, both of them hostile input. It hands bytes
// on as they come, keeps none but a few between two codings, and never allocates what a body declares. It knows no
// sockets, files or clocks.

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

    /// One layer, and what is under way in it.
    private struct Stage {
        let layer: Layer
        /// Bytes that came out of it.
        var produced = 0
        /// What it has not taken yet: of the piece, or of the output of the stage before it.
        var input = UnsafeRawBufferPointer(start: nil, count: 0)
        /// Whether it filled its output, so that more may come without more input.
        var isFull = false
        /// Where its output lies until the next stage has taken it; nil for the last one, which uses the pool's buffer.
        var output: UnsafeMutableRawBufferPointer?
    }

    /// What lies between two layers at most.
    private static let between = 16 << 10

    private let scratch: DecoderScratch
    private var state: State = .idle
    private var limits: DecodingLimits = .default
    /// In the order of undoing.
    private var stages: [Stage] = []
    /// Bytes the first layer has used up. The ratio is taken from these, so it does not depend on how input is cut.
    private var consumedBytes = 0

    /// What is undone and what stays on the decoded bytes.
    package private(set) var chain = CodingChain([])
    /// Bytes received.
    package private(set) var encodedBytes = 0
    /// Bytes handed on.
    package private(set) var decodedBytes = 0
    /// Bytes that came out of all layers, which is what decoding costs.
    package private(set) var unfoldedBytes = 0
    /// Whether more may come of what was taken already, without further input.
    package private(set) var hasMore = false

    init(scratch: DecoderScratch) {
        self.scratch = scratch
    }

    deinit {
        for stage in stages { stage.output?.deallocate() }
    }

    /// Bytes after the end of the coded data, over all layers; not zero is worth a warning.
    package var ignoredBytes: Int {
        var sum = 0
        for stage in stages {
            switch stage.layer {
            case .inflate(let layer): sum += layer.ignoredBytes
            case .brotli(let layer): sum += layer.ignoredBytes
            }
        }
        return sum
    }

    /// Decodes the next piece of the body, whatever it unfolds to.
    ///
    /// - Parameters:
    ///   - input: Any number of bytes; not used after the call.
    ///   - body: Receives decoded bytes in order, at most 64 KiB at a time when a coding is undone. They are valid
    ///     during the call only. It must not use another decoder of the same pool; it may throw `.refused`.
    /// - Throws: What ended the decoding; the same error again on every later call.
    package func decode(
        _ input: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(DecodingError) -> Void
    ) throws(DecodingError) {
        _ = try decode(input, atMost: .max, body)
    }

    /// Decodes on, and stops when so much has come.
    ///
    /// - Parameters:
    ///   - input: What has not been taken of the body; it may be empty while `hasMore` holds.
    ///   - most: What is handed on at most where a coding is undone, one byte or more. What comes between two layers
    ///     counts as well, so it may be less.
    ///   - body: As above.
    /// - Returns: How many bytes of the input were taken. The rest comes again, after `hasMore`.
    /// - Throws: As above.
    package func decode(
        _ input: UnsafeRawBufferPointer, atMost most: Int,
        _ body: (UnsafeRawBufferPointer) throws(DecodingError) -> Void
    ) throws(DecodingError) -> Int {
        switch state {
        case .decoding: break
        case .failed(let error): throw error
        case .idle, .finished: preconditionFailure("a decoder is used between take and finish")
        }
        guard !input.isEmpty || hasMore else { return 0 }
        do throws(DecodingError) {
            var taken = input.count
            if stages.isEmpty {
                decodedBytes += input.count
                unfoldedBytes += input.count
                encodedBytes += input.count
                try body(input)
            } else {
                precondition(!scratch.isInUse, "decoders of one pool do not run inside one another")
                scratch.isInUse = true
                defer { scratch.isInUse = false }
                stages[0].input = input
                try run(atMost: most, body)
                taken -= stages[0].input.count
                stages[0].input = UnsafeRawBufferPointer(start: nil, count: 0)
                encodedBytes += taken
            }
            return taken
        } catch {
            hasMore = false
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
            for (index, stage) in stages.enumerated() where !isComplete(stage.layer) {
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
        unfoldedBytes = 0
        consumedBytes = 0
        hasMore = false
        state = .decoding
    }

    /// Adds the layer to undo after those already there.
    func append(_ layer: Layer) {
        if let last = stages.indices.last {
            stages[last].output = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.between, alignment: 64)
        }
        stages.append(Stage(layer: layer))
    }

    /// Hands the layers over and forgets the body.
    func end(_ collect: (Layer) -> Void) {
        if case .idle = state { preconditionFailure("a decoder is given back once") }
        for stage in stages {
            stage.output?.deallocate()
            collect(stage.layer)
        }
        stages.removeAll(keepingCapacity: true)
        state = .idle
    }

    /// Goes on until nothing is left to take, or so much has come out of the layers.
    private func run(
        atMost most: Int, _ body: (UnsafeRawBufferPointer) throws(DecodingError) -> Void
    ) throws(DecodingError) {
        var left = most
        // The last stage that can go on does, so that what lies behind one is taken before more comes out of it.
        while let place = stages.lastIndex(where: { $0.isFull || !$0.input.isEmpty }) {
            guard left > 0 else {
                // Of what the first stage has not taken the caller knows.
                hasMore = place > 0 || stages[0].isFull
                return
            }
            left -= try step(place, atMost: left, body)
        }
        hasMore = false
    }

    /// Lets one layer work once.
    ///
    /// - Returns: How many bytes came out of it.
    private func step(
        _ place: Int, atMost most: Int, _ body: (UnsafeRawBufferPointer) throws(DecodingError) -> Void
    ) throws(DecodingError) -> Int {
        let output = stages[place].output ?? UnsafeMutableRawBufferPointer(rebasing: scratch.buffer.prefix(most))
        var input = stages[place].input
        let before = input.count
        let produced: Int
        switch stages[place].layer {
        case .inflate(let layer): produced = try layer.step(&input, into: output)
        case .brotli(let layer): produced = try layer.step(&input, into: output)
        }
        if place == 0 { consumedBytes += before - input.count }
        stages[place].input = input
        stages[place].isFull = produced == output.count
        guard produced > 0 else { return 0 }
        stages[place].produced += produced
        unfoldedBytes += produced
        try limits.check(produced: stages[place].produced, consumed: consumedBytes)
        let piece = UnsafeRawBufferPointer(rebasing: output[..<produced])
        if place + 1 < stages.count {
            stages[place + 1].input = piece
        } else {
            decodedBytes += produced
            try body(piece)
        }
        return produced
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
