import Glibc
import TrawlPlatform

/// Reads a file line by line, no further than it is asked.
///
/// Bound to one thread.
final class LineReader {
    enum Next {
        case line([UInt8])
        case end
        /// The other descriptor became readable first.
        case interrupted
    }

    private let descriptor: Int32
    private let isOwned: Bool
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private var isSkipping = false

    /// Opens a list; `-` is standard input.
    init(_ path: String) throws(SystemError) {
        isOwned = path != "-"
        descriptor = isOwned ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else { throw SystemError(errno: errno, call: "open") }
        var info = stat()
        if fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFDIR {
            throw SystemError(errno: EISDIR, call: "read")
        }
    }

    deinit {
        if isOwned, descriptor >= 0 { close(descriptor) }
    }

    /// The next line without its end. Of one that is far too long only a part comes.
    ///
    /// - Parameter interrupt: Waiting for input ends when this is readable.
    func next(interrupt: Int32) throws(SystemError) -> Next {
        while true {
            if let end = buffer[start...].firstIndex(of: 0x0A) {
                let line = Array(buffer[start..<end])
                start = end + 1
                if isSkipping {
                    isSkipping = false
                    continue
                }
                return .line(line)
            }
            if isAtEnd {
                defer { start = buffer.count }
                return start < buffer.count && !isSkipping ? .line(Array(buffer[start...])) : .end
            }
            if buffer.count - start > ListLine.longest {
                let part = Array(buffer[start...])
                buffer = []
                start = 0
                let wasSkipping = isSkipping
                isSkipping = true
                if !wasSkipping { return .line(part) }
            }
            guard waitForInput(interrupt) else { return .interrupted }
            try fill()
        }
    }

    private func waitForInput(_ interrupt: Int32) -> Bool {
        var pollers = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&pollers, 2, -1) < 0, errno == EINTR {}
        return pollers[0].revents != 0
    }

    private func fill() throws(SystemError) {
        buffer.removeFirst(start)
        start = 0
        let old = buffer.count
        let room = 1 << 16
        var failure: Int32 = 0
        buffer.reserveCapacity(old + room)
        let chunk = [UInt8](unsafeUninitializedCapacity: room) { space, count in
            let got = read(descriptor, space.baseAddress, room)
            count = max(0, got)
            if got < 0 { failure = errno }
        }
        if failure != 0 {
            if failure == EINTR || failure == EAGAIN { return }
            throw SystemError(errno: failure, call: "read")
        }
        buffer += chunk
        if chunk.isEmpty { isAtEnd = true }
    }
}
