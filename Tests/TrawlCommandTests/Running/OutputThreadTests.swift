import Glibc
import TestSupport
import Testing
import TrawlPlatform

@testable import TrawlCommand

@Suite("A thread that writes")
struct OutputThreadTests {
    /// A pipe's two ends, closed with it.
    private final class Pipe {
        private(set) var ends: [Int32] = [-1, -1]

        init() throws(SystemError) {
            guard let made = OwnDescriptors.pipe() else { throw SystemError(errno: errno, call: "pipe2") }
            ends = made
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

    @Test("messages that were dropped are counted at the end too, when nothing comes behind them")
    func dropped() throws {
        let pipe = try Pipe()
        let messages = try MessageThread(descriptor: pipe.ends[1])
        // Longer than what a pipe holds, so none is written before it is read; four fill what is kept.
        let text = String(repeating: "x", count: 256 << 10)
        for _ in 0..<7 { messages.write(text) }
        let finisher = try NamedThread.start(name: "finisher") { messages.finish() }
        #expect(pipe.read(4 * text.utf8.count, other: UInt8(ascii: "x")) == 0)
        finisher.join()
        let note = "trawl: 3 messages were not read, and are lost\n"
        var poller = pollfd(fd: pipe.ends[0], events: Int16(POLLIN), revents: 0)
        let ready = poll(&poller, 1, 30_000)
        try #require(ready == 1)
        var bytes = [UInt8](repeating: 0, count: 100)
        let size = bytes.count
        let count = Glibc.read(pipe.ends[0], &bytes, size)
        #expect(count == note.utf8.count && String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == note)
    }

    @Test("a reader that resets its socket has gone, as one that closes a pipe")
    func reset() throws {
        let ends = try connection()
        defer { close(ends[0]) }
        var abrupt = linger(l_onoff: 1, l_linger: 0)
        setsockopt(ends[1], SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
        close(ends[1])
        var poller = pollfd(fd: ends[0], events: 0, revents: 0)
        let count = poll(&poller, 1, 30_000)
        #expect(count == 1)
        signal(SIGPIPE, SIG_IGN)
        #expect(throws: SystemError(errno: EPIPE, call: "write")) { try StandardStreams.write([1], to: ends[0]) }
    }

    /// The two ends of a TCP connection.
    private func connection() throws -> [Int32] {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let (listener, client) = (socket(AF_INET, type, 0), socket(AF_INET, type, 0))
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &size) == 0 && connect(client, address, size) == 0
            }
        }
        try #require(isConnected)
        guard let server = try LocalSocket.accept(listener) else { throw SystemError(errno: EAGAIN, call: "accept") }
        return [client, server.release()]
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
