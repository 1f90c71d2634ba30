import Glibc

/// Bytes read and not yet handed out, cut at the ends of lines.
///
/// Bound to one thread. What it lends is valid until the next call.
final class LineBuffer {
    private static let firstSize = 128 << 10
    /// More than that is kept for long lines alone.
    private static let mostKept = 1 << 20

    private let longest: Int
    private var space: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    /// Up to here there is no end of a line.
    private var searched = 0
    /// Bytes that were ever handed out, ends of lines included.
    private(set) var handedOut = 0

    /// - Parameter longest: The length of the longest line that must fit.
    init(longest: Int) {
        self.longest = longest
        space = .allocate(byteCount: min(longest + 2, Self.firstSize), alignment: 16)
    }

    deinit { space.deallocate() }

    /// Bytes kept.
    var count: Int { end - start }

    /// Bytes there is room for.
    var capacity: Int { space.count }

    /// Whether no line within the limit can come of what is kept, its end not being here.
    var isFull: Bool { searched == end && count > longest + 1 }

    /// The next line without its end (LF or CR LF), or nil when its end is not here.
    func takeLine() -> UnsafeRawBufferPointer? {
        guard searched < end, let base = space.baseAddress else {
            // Nobody knows when more comes.
            if start == end { letGo() }
            return nil
        }
        guard let found = memchr(base + searched, 0x0A, end - searched) else {
            searched = end
            return nil
        }
        let position = UnsafeRawPointer(found) - UnsafeRawPointer(base)
        var length = position - start
        if length > 0, space[position - 1] == 0x0D { length -= 1 }
        let line = UnsafeRawBufferPointer(rebasing: space[start..<start + length])
        handedOut += position + 1 - start
        start = position + 1
        searched = start
        return line
    }

    /// The last line, which has no end; nil when there is none.
    func takeRest() -> UnsafeRawBufferPointer? {
        guard start < end else { return nil }
        return takeAll()
    }

    /// All that is kept, as it is.
    func takeAll() -> UnsafeRawBufferPointer {
        let rest = UnsafeRawBufferPointer(rebasing: space[start..<end])
        handedOut += end - start
        start = end
        searched = end
        return rest
    }

    /// Lets `fill` write up to `room` bytes or a few more; it says how many it wrote.
    func append(room: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
        makeRoom(room)
        end += fill(UnsafeMutableRawBufferPointer(rebasing: space[end...]))
    }

    /// Adds bytes.
    func append(_ bytes: UnsafeRawBufferPointer) {
        append(room: bytes.count) { room in
            room.copyMemory(from: bytes)
            return bytes.count
        }
    }

    private func makeRoom(_ room: Int) {
        let needed = count + room
        if space.count > Self.mostKept, needed <= space.count / 4 {
            // The line it was for has gone.
            move(to: .allocate(byteCount: max(2 * needed, Self.firstSize), alignment: 16))
            return
        }
        guard space.count - end < room else { return }
        if needed <= space.count, start > 0 {
            move(to: space)
        } else {
            let size = max(needed, min(space.count * 2, longest + Self.firstSize))
            move(to: .allocate(byteCount: size, alignment: 16))
        }
    }

    /// Gives the memory of a long line back; nothing is kept.
    private func letGo() {
        guard space.count > Self.mostKept else { return }
        space.deallocate()
        space = .allocate(byteCount: min(longest + 2, Self.firstSize), alignment: 16)
        start = 0
        end = 0
        searched = 0
    }

    /// Puts what is kept at the start of this space, which may be the one it is in.
    private func move(to other: UnsafeMutableRawBufferPointer) {
        let kept = count
        other.copyMemory(from: UnsafeRawBufferPointer(rebasing: space[start..<end]))
        if other.baseAddress != space.baseAddress { space.deallocate() }
        space = other
        searched -= start
        start = 0
        end = kept
    }
}
