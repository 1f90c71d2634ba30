import CTrawlZlib
import TestSupport
import TrawlCoding

/// How a body is cut into pieces: at these offsets, in order.
typealias Cuts = [Int]

func pieces(of bytes: [UInt8], at cuts: Cuts) -> [ArraySlice<UInt8>] {
    var result: [ArraySlice<UInt8>] = []
    var start = 0
    for cut in cuts {
        result.append(bytes[start..<cut])
        start = cut
    }
    result.append(bytes[start...])
    return result
}

func randomCuts(_ count: Int, _ most: Int, using random: inout SeededGenerator) -> Cuts {
    (0..<Int.random(in: 0...most, using: &random)).map { _ in Int.random(in: 0...count, using: &random) }.sorted()
}

enum Wrapping: Int32 {
    case gzip = 31
    case zlib = 15
    case bare = -15
}

func deflated(_ bytes: [UInt8], _ wrapping: Wrapping) -> [UInt8] {
    deflated(repeating: bytes, times: 1, wrapping)
}

/// Compresses `bytes` written so many times over, without ever holding the whole input.
func deflated(repeating bytes: [UInt8], times: Int, _ wrapping: Wrapping) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    precondition(deflateInit2_(&stream, 9, Z_DEFLATED, wrapping.rawValue, 9, 0, ZLIB_VERSION, size) == Z_OK)
    defer { deflateEnd(&stream) }
    var result: [UInt8] = []
    var bytes = bytes
    var output = [UInt8](repeating: 0, count: 64 << 10)
    for round in 1...times {
        bytes.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            repeat {
                let produced = output.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    deflate(&stream, round == times ? Z_FINISH : Z_NO_FLUSH)
                    return output.count - Int(stream.avail_out)
                }
                result += output[..<produced]
            } while stream.avail_out == 0
        }
    }
    return result
}

/// What became of a body under a decoder.
struct Decoded: Equatable {
    var bytes: [UInt8] = []
    var count = 0
    var largestPiece = 0
    var ignored = 0
    var error: DecodingError?
}

/// Decodes a body with a decoder of `pool`, in the given pieces.
func decode(
    _ body: [UInt8], _ codings: [ContentCoding], cuts: Cuts = [], limits: DecodingLimits = .default,
    keep: Bool = true, pool: DecoderPool = DecoderPool()
) -> Decoded {
    var result = Decoded()
    do throws(DecodingError) {
        let decoder = try pool.take(for: codings, limits: limits)
        defer { pool.give(decoder) }
        for piece in pieces(of: body, at: cuts) {
            let error: DecodingError? = piece.withUnsafeBytes { bytes in
                do throws(DecodingError) {
                    try decoder.decode(bytes) { decoded in
                        result.count += decoded.count
                        result.largestPiece = max(result.largestPiece, decoded.count)
                        if keep { result.bytes += decoded }
                    }
                    return nil
                } catch {
                    return error
                }
            }
            if let error { throw error }
        }
        try decoder.finish()
        result.ignored = decoder.ignoredBytes
    } catch {
        result.error = error
    }
    return result
}
