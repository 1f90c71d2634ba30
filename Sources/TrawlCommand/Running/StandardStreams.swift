import Glibc
import Trawl
import TrawlPlatform

/// Standard input, output and error.
enum StandardStreams {
    /// Makes sure that 0, 1 and 2 are open, so that no file or socket of ours gets one of these numbers, and that a
    /// reader who goes away, or a file that may not become so long (RLIMIT_FSIZE), is an error of writing and not the
    /// end of this process.
    ///
    /// How the processes that it starts have ended is its own to ask, also when who started it does not want to know of
    /// such ends: an ignored SIGCHLD stays ignored over execve(2), and then nobody is told (wait(2), "NOTES").
    static func makeSafe() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGCHLD, SIG_DFL)
        for number in 0...2 where fcntl(Int32(number), F_GETFD) < 0 {
            // The wrong way round on purpose: using a stream that was closed stays an error.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes all bytes; waits when the descriptor is non-blocking and full.
    ///
    /// - Throws: `EPIPE` when the reader has gone, of a socket too.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&poller, 1, -1)
            // So a writer hears of a reader that has closed a socket with bytes unread.
            case ECONNRESET where isSocket(descriptor): throw SystemError(errno: EPIPE, call: "write")
            case let number: throw SystemError(errno: number, call: "write")
            }
        }
    }

    /// As above.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        try bytes.span.withUnsafeBytes { bytes throws(SystemError) in try write(bytes, to: descriptor) }
    }

    private static func isSocket(_ descriptor: Int32) -> Bool {
        var info = stat()
        return fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFSOCK
    }

    /// Writes a text as one piece where that is possible; a failure has nowhere to be told.
    static func writeText(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { try? write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Who reads standard input to its end leaves nothing for another.
    private static let inputIsTaken = Guarded(false)

    /// Why standard input cannot be read at all; nil when it can. Where it was closed, something else stands in its
    /// place.
    static var inputProblem: String? {
        fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE == O_WRONLY ? "standard input is closed" : nil
    }

    /// To be asked before standard input is read.
    /// - Returns: False when something else reads it, or has.
    static func takeInput() -> Bool {
        inputIsTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    private static let inputIsList = Guarded(false)

    /// A list is read from standard input, line by line while the run goes on.
    static func readsList() { inputIsList.withLock { $0 = true } }

    /// Whether a person types the list of this run: what is typed at the terminal is for the list then.
    static var listIsTyped: Bool { inputIsList.withLock { $0 } && Terminal.isTerminal(STDIN_FILENO) }

    /// Reads a file that an option names to its end; `-` is standard input.
    ///
    /// - Parameter option: Its name, for messages.
    static func readAll(
        _ path: String, limit: Int = 1 << 30, option: String? = nil
    ) throws(CommandError) -> [UInt8] {
        let name = path == "-" ? "standard input" : path
        if path == "-", !takeInput() { throw CommandError("standard input can be read by one option alone") }
        if path == "-", let problem = inputProblem {
            throw CommandError(
                option.map { "\($0): \(problem)" } ?? problem, curlStatus: ExitStatus.Curl.readError)
        }
        let number = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw unreadable(name, errno, option) }
        defer { if path != "-" { close(number) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(number, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw unreadable(name, errno, option)
            }
            bytes += chunk[..<count]
            if bytes.count > limit {
                throw CommandError(
                    "\(name.terminalSafe): longer than \(limit) bytes", curlStatus: ExitStatus.Curl.readError)
            }
        }
    }

    private static func unreadable(_ name: String, _ number: Int32, _ option: String?) -> CommandError {
        CommandError(file: name, number, option: option, curlStatus: ExitStatus.Curl.readError)
    }
}

extension SystemError {
    /// The system's words for an error number, without a call's name.
    static func reason(_ number: Int32) -> String {
        String(SystemError(errno: number, call: "").description.dropFirst(2))
    }
}
