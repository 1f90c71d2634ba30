import Glibc
import Testing
import TrawlPlatform

@Suite("Descriptors that take bytes at their reader's pace")
struct PacedDescriptorTests {
    @Test("a pipe is open once it has a reader, takes what it has room for, and ends with its reader")
    func pipe() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        var paced = PacedDescriptor(try PacedDescriptor.pipe(at: path))
        let bytes = [UInt8](repeating: 7, count: 300_000)
        let number = paced.rawValue
        #expect(number == nil)
        let early = try bytes.withUnsafeBytes { try paced.write($0) }
        #expect(early == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        _ = try paced.write(UnsafeRawBufferPointer(start: nil, count: 0))
        let isOpen = paced.isOpen
        #expect(isOpen)
        let taken = try bytes.withUnsafeBytes { try paced.write($0) }
        #expect(taken > 0 && taken < bytes.count)
        let more = try bytes.withUnsafeBytes { try paced.write($0) }
        #expect(more == 0)
        let opened = paced.rawValue
        let writer = try #require(opened)
        close(reader)
        awaitHangUp(writer)
        sigset_t.blocking(SIGPIPE) {
            let number = errorNumber { _ = try bytes.withUnsafeBytes { try paced.write($0) } }
            #expect(number == EPIPE)
        }
    }

    @Test("only places and what does not block are paced")
    func kinds() throws {
        let directory = try TemporaryDirectory()
        try #require(mkfifo(directory.file("pipe"), 0o600) == 0)
        let place = try PacedDescriptor.pipe(at: directory.file("pipe"))
        let null = try PacedDescriptor.device(at: "/dev/null")
        let paced = [PacedDescriptor.isPaced(place), PacedDescriptor.isPaced(null)]
        #expect(paced == [true, false])
        #expect(errorNumber { _ = try PacedDescriptor.pipe(at: "/dev/null") } == EINVAL)
        #expect(errorNumber { _ = try PacedDescriptor.pipe(at: directory.file("none")) } == ENOENT)
    }
}

extension sigset_t {
    /// Runs `body` with a signal blocked on this thread.
    fileprivate static func blocking(_ signal: Int32, _ body: () throws -> Void) rethrows {
        var signals = sigset_t()
        var before = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer {
            // The signal is for this thread and still waits.
            var none = timespec()
            sigtimedwait(&signals, nil, &none)
            pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        try body()
    }
}
