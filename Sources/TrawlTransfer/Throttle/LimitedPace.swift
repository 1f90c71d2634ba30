/// What is done at a rate so that no second of it gets much more or less than its share.
///
/// What lies in the system's buffer is read as a whole: of what is read in parts the system gives room back only with
/// the last, and then for all of it.
struct LimitedPace {
    /// What is asked of the system as a buffer for what is not read yet: a sixty-fourth of a second's bytes, and a
    /// larger part of few, where the heads of short segments would take too much.
    let buffer: Int32
    /// What the system takes unread, and so comes when all of it is read.
    let window: Int
    /// Bytes of a request that are sent at a time.
    let piece: Int
    /// The longest response that is reckoned with, 1 EiB: a server may announce any length, and no sum overflows.
    static let longest = 1 << 60

    init(rate: UInt64) {
        buffer = Int32(clamping: min(max(rate / 64, min(rate / 20, 3 << 10), 1152), 128 << 10))
        window = Self.window(of: buffer)
        piece = Int(clamping: min(max(rate / 64, min(rate / 20, 3 << 10), 256), 64 << 10))
    }

    /// What the system takes with a buffer until more is known: as seen with Linux 6 and segments as `Connection` has
    /// them.
    private static func window(of buffer: Int32) -> Int { max(Int(buffer), Int(buffer) * 15 / 8 - (2 << 10)) }

    /// What a response of so many bytes is on the wire.
    func onWire(_ bytes: Int) -> Int {
        let bytes = min(bytes, Self.longest)
        return bytes + (bytes / Int(min(Connection.segment(for: buffer), 1448)) + 2) * Connection.segmentHead
    }
}

/// What came unread with each size of buffer: systems and devices differ.
struct UnreadBytes {
    private var windows: [Int32: Int] = [:]
    private var starts: [Int32: Int] = [:]

    /// What comes at a time when what came before is read.
    func window(at pace: LimitedPace) -> Int { windows[pace.buffer] ?? pace.window }

    /// What a request is on the wire before any of its response is delivered: what the system takes, and what libcurl
    /// has read before it is told to wait.
    func start(at pace: LimitedPace) -> Int { starts[pace.buffer] ?? pace.onWire(2 * pace.window) }

    /// A transfer waits with the first bytes of its response.
    ///
    /// - Parameters:
    ///   - received: Bytes that came, without heads of segments.
    ///   - traffic: All that came and went.
    mutating func note(_ received: Int, _ traffic: Int, at pace: LimitedPace) {
        // A server may be slow, or far away.
        windows[pace.buffer] = max(received / 2, windows[pace.buffer] ?? pace.window / 2)
        starts[pace.buffer] = max(traffic, pace.onWire(pace.window))
    }
}
