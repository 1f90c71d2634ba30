package import TrawlHTTP

/// Takes the chunked transfer coding off a body, piece by piece and without copying its content.
///
/// Strict where two readers of the same bytes could disagree about where a response ends, since on a reused connection
/// the rest becomes the next response:
///
/// - Every line ends with CR LF. RFC 9112 §2.2 lets a recipient take a bare LF for the end of a start line or field
///   line; it is an option, does not speak of chunk lines, and readers differ there, so it is used nowhere here, the
///   trailer section included. A CR that no LF follows is an error as well (§2.2).
/// - The content of a chunk is followed by CR LF at once (§7.1).
/// - A size is 1 to 16 hexadecimal digits and at most 2^63 - 1 (§7.1: overflow must not pass).
///
/// Lenient where the meaning is plain: spaces and tabs between a size and the end of its line or its extensions, which
/// old servers use as padding (BWS, §7.1.1), and extensions of any form without control bytes, all ignored (§7.1.1).
///
/// - Source: RFC 9112 §7.1.
package struct ChunkDecoder: Sendable {
    private enum State: Sendable {
        /// Before the first digit of a size, or within it.
        case size(UInt64, digits: Int)
        /// Between the size and the end of its line. `named` once a semicolon was seen.
        case chunkExtension(UInt64, length: Int, named: Bool)
        /// LF must follow, then so many bytes of content.
        case sizeEnd(UInt64)
        case content(UInt64)
        case contentCR
        case contentLF
        case trailer
        case complete
        case failed(ChunkError)
    }

    private var state: State = .size(0, digits: 0)
    private var trailerSection: TrailerSection
    private let limits: ChunkLimits
    private var extensionBytes = 0
    private var contentBytes = 0

    /// Input bytes seen after the end of the body. When not zero, the connection must not be used again.
    package private(set) var excess = 0

    /// A decoder at the beginning of a body.
    package init(limits: ChunkLimits = .default) {
        self.limits = limits
        trailerSection = TrailerSection(maxBytes: limits.trailerBytes, maxFields: limits.trailerFields)
    }

    /// Whether the body and its trailer section have ended. One whose connection ends before that is truncated
    /// (RFC 9112 §8).
    package var isComplete: Bool {
        if case .complete = state { return true }
        return false
    }

    /// The trailer fields that may be used; whole once the body is complete.
    ///
    /// Fields that must not come as trailers (RFC 9110 §6.5.1) were dropped. The others stay apart from the header
    /// fields: they are never merged here.
    package var trailers: FieldLines { trailerSection.fields }

    /// Finds the next run of content.
    ///
    /// - Parameter input: Bytes not looked at so far. What is used up is taken off its front.
    /// - Returns: A part of `input` that is content, never empty, or `nil` when `input` is used up.
    /// - Throws: What is wrong with the framing; the same error again on every later call.
    package mutating func next(
        in input: inout UnsafeRawBufferPointer
    ) throws(ChunkError) -> UnsafeRawBufferPointer? {
        var offset = 0
        while offset < input.count {
            switch state {
            case .content(let left):
                let end = offset + Int(clamping: min(left, UInt64(input.count - offset)))
                let content = UnsafeRawBufferPointer(rebasing: input[offset..<end])
                input = UnsafeRawBufferPointer(rebasing: input[end...])
                contentBytes += content.count
                let rest = left - UInt64(content.count)
                state = rest == 0 ? .contentCR : .content(rest)
                return content
            case .complete:
                excess += input.count - offset
                offset = input.count
            case .failed(let error):
                throw error
            case .size, .chunkExtension, .sizeEnd, .contentCR, .contentLF, .trailer:
                do throws(ChunkError) {
                    try step(input[offset])
                } catch {
                    state = .failed(error)
                    throw error
                }
                offset += 1
            }
        }
        input = UnsafeRawBufferPointer(start: nil, count: 0)
        return nil
    }

    /// Takes one byte of framing.
    private mutating func step(_ byte: UInt8) throws(ChunkError) {
        switch state {
        case .size(let size, let digits):
            if let digit = Self.hexadecimal(byte) {
                // 16 digits fill 64 bits, so the shift loses nothing.
                guard digits < 16 else { throw .sizeTooLarge }
                state = .size(size << 4 | UInt64(digit), digits: digits + 1)
            } else {
                guard digits > 0 else { throw byte == 0x0A ? .bareLF : .invalidSize }
                guard size <= UInt64(Int64.max) else { throw .sizeTooLarge }
                try sizeLine(byte, size: size, length: 0, named: false)
            }
        case .chunkExtension(let size, let length, let named):
            try sizeLine(byte, size: size, length: length, named: named)
        case .sizeEnd(let size):
            guard byte == 0x0A else { throw .bareCR }
            // The last chunk has no content and no line of its own after it (RFC 9112 §7.1).
            state = size == 0 ? .trailer : .content(size)
        case .contentCR:
            guard byte == 0x0D else { throw byte == 0x0A ? .bareLF : .contentOverrun }
            state = .contentLF
        case .contentLF:
            guard byte == 0x0A else { throw .bareCR }
            state = .size(0, digits: 0)
        case .trailer:
            if try trailerSection.take(byte) { state = .complete }
        case .content, .complete, .failed:
            break
        }
    }

    /// Takes one byte after the digits of a size.
    private mutating func sizeLine(
        _ byte: UInt8, size: UInt64, length: Int, named: Bool
    ) throws(ChunkError) {
        switch byte {
        case 0x0D:
            state = .sizeEnd(size)
            return
        case 0x0A:
            throw .bareLF
        case UInt8(ascii: ";"), 0x20, 0x09:
            break
        default:
            guard named else { throw .invalidSize }
            guard byte > 0x20 && byte != 0x7F else { throw .invalidExtension }
        }
        // RFC 9112 §7.1.1: the length of extensions must be limited, in one line and over all of them.
        extensionBytes += 1
        guard length < limits.extensionBytes, extensionBytes - contentBytes <= limits.extensionAllowance else {
            throw .extensionTooLong
        }
        state = .chunkExtension(size, length: length + 1, named: named || byte == UInt8(ascii: ";"))
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
