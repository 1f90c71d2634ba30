import Glibc
import Testing
import TrawlPlatform

@testable import TrawlCommand

@Suite("A thread that writes")
struct OutputThreadTests {
    /// A pipe's two ends, closed with it.
    private final class Pipe {
        private(set) var ends: [Int32] = [-1, -1]

        init() throws(SystemError) {
            guard pipe(&ends) == 0 else { throw SystemError(errno: errno, call: "pipe") }
        }

        deinit { for end in ends where end >= 0 { close(end) } }

        func closeReader() {
            close(ends[0])
            ends[0] = -1
        }

        /// Reads so many bytes, and says how many are not `byte`.
        func read(_ count: Int, other byte: UInt8) -> Int {
            var bytes = [UInt8](repeating: 0, count: count)
            var used = 0
            while used < count {
                let got = bytes.withUnsafeMutableBytes {
                    Glibc.read(ends[0], $0.baseAddress.map { $0 + used }, count - used)
                }
                if got <= 0 { return count }
                used += got
            }
            return bytes.count { $0 != byte }
        }
    }

    private func wait(for wakeUp: WakeUp) -> Bool {
        var poller = pollfd(fd: wakeUp.rawValue, events: Int16(POLLIN), revents: 0)
        defer { wakeUp.drain() }
        return poll(&poller, 1, 30_000) == 1
    }

    @Test("there is no room while nobody reads, whoever adds goes on, and there is room again once it was read")
    func room() throws {
        let pipe = try Pipe()
        let changed = try WakeUp()
        let end = pipe.ends[1]
        let thread = try OutputThread(mostLoad: 1 << 20) {
            LineWriter(descriptor: end)
        } changed: {
            changed.signal()
        }
        #expect(thread.hasRoom())
        let lines = [UInt8](repeating: 7, count: 256 << 10)
        for _ in 0..<8 { thread.add(lines) }
        #expect(!thread.hasRoom())
        #expect(pipe.read(7 * lines.count, other: 7) == 0)
        #expect(wait(for: changed))
        #expect(thread.hasRoom())
        #expect(pipe.read(lines.count, other: 7) == 0)
        #expect(thread.failure == nil && !thread.isOver)
        // Nobody ends it here: a reader that has gone does.
        signal(SIGPIPE, SIG_IGN)
        pipe.closeReader()
        thread.add(lines)
        #expect(wait(for: changed))
        #expect(thread.failure?.errno == EPIPE && thread.isOver)
    }

    @Test("where next to nothing may wait there is room again all the same", arguments: [1, 2, 3])
    func leastRoom(mostLoad: Int) throws {
        let pipe = try Pipe()
        let changed = try WakeUp()
        let end = pipe.ends[1]
        let thread = try OutputThread(mostLoad: mostLoad) {
            LineWriter(descriptor: end)
        } changed: {
            changed.signal()
        }
        // More than a pipe holds: it is not written before it is read.
        let lines = [UInt8](repeating: 7, count: 256 << 10)
        for _ in 0..<3 {
            thread.add(lines)
            #expect(!thread.hasRoom())
            #expect(pipe.read(lines.count, other: 7) == 0)
            #expect(wait(for: changed))
            #expect(thread.hasRoom())
        }
        thread.end()
        #expect(wait(for: changed) && thread.isOver)
    }
}
