// TrawlProtocol: what coordinator and worker say to each other, as values and as frames (docs/worker-protocol.md). It
// must never trap, or take more memory than a frame may have, on what the other side sends.

/// The frames that coordinator and workers exchange over a stream socket: a pure codec.
///
/// It turns messages into bytes and bytes into messages, and never trusts the bytes: whatever another process sends
/// is either a well-formed message within the limits below or a `FrameError`. It does no input or output and keeps
/// no connection state. The layout is documented in docs/worker-protocol.md.
package enum WireProtocol {
    /// First four bytes of a `hello` and a `ready` payload: `TRWL`.
    package static let magic: UInt32 = 0x4C57_5254
    /// Raised by every change of the layout. Both sides must have the same.
    package static let version: UInt16 = 18
    /// Bytes of a frame header: payload length (32 bits), kind, descriptor count, two reserved bytes.
    package static let headerLength = 8
    /// The longest payload of a frame.
    package static let maximumPayload = 4 << 20
    /// The most descriptors that travel with one frame.
    package static let maximumDescriptors = 4
    /// The longest body that travels inside a frame.
    package static let maximumInlineBody = 64 << 10
    /// The largest header section a profile may allow; it must fit a frame beside an inline body.
    package static let maximumHead = 1 << 20
    /// The longest head of a request, a body that travels inside a frame included: libcurl 7.88 makes both in one buffer
    /// (`DYN_HTTP_REQUEST`).
    package static let maximumRequestHead = 1 << 20
    /// The most certificates of a chain that a failure shows.
    package static let maximumCertificates = 16
    /// The longest of them.
    package static let maximumCertificate = 64 << 10

    /// The longest path of a file beneath an output root, in bytes (Linux: PATH_MAX less the final zero).
    package static let maximumPath = 4095

    /// Whether a path is made of names only: not absolute, nothing empty, neither `.` nor `..`, no zero byte.
    static func isRelativePath(_ path: UnsafeRawBufferPointer) -> Bool {
        guard !path.isEmpty, path.count <= maximumPath else { return false }
        let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
        var start = 0
        for index in 0...path.count {
            if index < path.count {
                if path[index] == 0 { return false }
                if path[index] != slash { continue }
            }
            switch index - start {
            case 0: return false
            case 1: if path[start] == dot { return false }
            case 2: if path[start] == dot, path[start + 1] == dot { return false }
            default: break
            }
            start = index + 1
        }
        return true
    }

    enum Kind: UInt8 {
        case hello = 1
        case profile
        case lease
        case answer
        case cancel
        case credit
        case drain
        case release
        case order
        case ready = 16
        case interim
        case head
        case data
        case ended
        case unshared
        case connections
        case wants
        case closed
        case forwards
    }
}
