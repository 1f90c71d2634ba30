import CTrawlZlib

/// One layer of gzip or deflate. Its zlib state is made once and used for any number of bodies.
final class InflateLayer {
    enum Format {
        case gzip, deflate
    }

    private enum State {
        /// Deflate only: neither of the two bytes that tell zlib's wrapping from a bare stream is here.
        case sniffing
        /// Deflate only: the first of them.
        case sniffed(UInt8)
        case inflating
        /// Gzip only: a member has ended, another one, padding, garbage or nothing may follow.
        case betweenMembers
        /// Gzip only: as before, after a byte that may begin a member.
        case sniffedMember
        /// Whatever follows is ignored.
        case ended
    }

    // Values of zlib's `windowBits`: the largest window, and how the stream is wrapped. All three have the same window
    // size, so zlib keeps its window buffer over resets.
    private static let gzipWrapped: Int32 = 15 + 16
    private static let zlibWrapped: Int32 = 15
    private static let bare: Int32 = -15
    // RFC 1952 §2.3.1.
    private static let magic: (UInt8, UInt8) = (0x1F, 0x8B)

    private var state: State = .inflating
    private var format: Format = .gzip
    /// On the heap because zlib's inner state points back at it.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Bytes after the end of the coded data; zeros around gzip members are padding and do not count.
    private(set) var ignoredBytes = 0

    init() throws(DecodingError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard czlib_inflate_init(stream, Self.gzipWrapped) == Z_OK else {
            stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Forgets the last body and gets ready for one of this format.
    func reset(for format: Format) throws(DecodingError) {
        self.format = format
        ignoredBytes = 0
        switch format {
        case .gzip:
            state = .inflating
            try resetStream(Self.gzipWrapped)
        case .deflate:
            state = .sniffing
        }
    }

    /// Whether the input so far is a whole body.
    var isComplete: Bool {
        switch state {
        case .sniffing, .sniffed, .inflating: false
        case .betweenMembers, .sniffedMember, .ended: true
        }
    }

    /// Says that no more input will come.
    func finish() {
        if case .sniffedMember = state {
            ignoredBytes += 1
            state = .ended
        }
    }

    /// Uses up some input and produces some output. Call again while input is left or the output was filled.
    ///
    /// - Returns: Bytes written to `output`.
    func step(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(DecodingError) -> Int {
        while true {
            switch state {
            case .inflating:
                return try inflate(&input, into: output)
            case .sniffing:
                guard let first = input.popByte() else { return 0 }
                state = .sniffed(first)
            case .sniffed(let first):
                guard let second = input.first else { return 0 }
                try resetStream(Self.isZlibHeader(first, second) ? Self.zlibWrapped : Self.bare)
                try replay(first, into: output)
                state = .inflating
            case .betweenMembers:
                // RFC 1952 §2.2: members follow one another. Zero padding around them is as old as tapes.
                guard let byte = input.first else { return 0 }
                if byte == Self.magic.0 {
                    state = .sniffedMember
                } else if byte != 0 {
                    state = .ended
                    continue
                }
                input = UnsafeRawBufferPointer(rebasing: input[1...])
            case .sniffedMember:
                guard let second = input.first else { return 0 }
                guard second == Self.magic.1 else {
                    ignoredBytes += 1
                    state = .ended
                    continue
                }
                try resetStream(Self.gzipWrapped)
                try replay(Self.magic.0, into: output)
                state = .inflating
            case .ended:
                ignoredBytes += input.count
                input = UnsafeRawBufferPointer(start: nil, count: 0)
                return 0
            }
        }
    }

    /// Whether two bytes begin a zlib stream rather than a bare one.
    ///
    /// A bare stream could begin alike only with a stored block whose unused bits are set, which no encoder writes.
    ///
    /// - Source: RFC 1950 §2.2 (method 8, window at most 32 KiB, header a multiple of 31); RFC 9110 §8.4.1.2, note.
    private static func isZlibHeader(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (Int(first) << 8 | Int(second)) % 31 == 0
    }

    private func resetStream(_ windowBits: Int32) throws(DecodingError) {
        guard inflateReset2(stream, windowBits) == Z_OK else { throw .outOfMemory }
    }

    /// Feeds one byte that was held back. A first byte is header only and yields no output.
    private func replay(_ byte: UInt8, into output: UnsafeMutableRawBufferPointer) throws(DecodingError) {
        var held = byte
        let failure: DecodingError? = withUnsafeBytes(of: &held) { bytes in
            var bytes = bytes
            do throws(DecodingError) {
                _ = try inflate(&bytes, into: output)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    private func inflate(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(DecodingError) -> Int {
        let offered = min(input.count, 1 << 30)
        let base = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        // zlib only reads through `next_in`; the header's type merely says otherwise.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: base)
        stream.pointee.avail_in = UInt32(offered)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(output.count)
        // Z_FINISH spares the window when a body ends within this call, and is otherwise the same as Z_NO_FLUSH.
        let code = CTrawlZlib.inflate(stream, Z_FINISH)
        let consumed = offered - Int(stream.pointee.avail_in)
        let produced = output.count - Int(stream.pointee.avail_out)
        stream.pointee.next_in = nil
        stream.pointee.next_out = nil
        input = UnsafeRawBufferPointer(rebasing: input[consumed...])
        switch code {
        case Z_OK, Z_BUF_ERROR:
            // Z_BUF_ERROR says "more input or output, please". Standing still with both at hand would loop for ever.
            guard consumed > 0 || produced > 0 || input.isEmpty else { throw corrupt("no progress") }
        case Z_STREAM_END:
            state = format == .gzip ? .betweenMembers : .ended
        case Z_MEM_ERROR:
            throw .outOfMemory
        case Z_NEED_DICT:
            // RFC 1950 §2.2, FDICT: nobody told us a dictionary.
            throw corrupt("preset dictionary")
        default:
            throw corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "invalid data")
        }
        return produced
    }

    private func corrupt(_ reason: String) -> DecodingError {
        .corrupt(format == .gzip ? .gzip : .deflate, reason: reason)
    }
}

extension UnsafeRawBufferPointer {
    /// Takes the first byte off, if there is one.
    fileprivate mutating func popByte() -> UInt8? {
        guard let byte = first else { return nil }
        self = UnsafeRawBufferPointer(rebasing: self[1...])
        return byte
    }
}
