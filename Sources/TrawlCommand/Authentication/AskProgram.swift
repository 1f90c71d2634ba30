import Glibc
import TrawlPlatform

/// A program that asks the person in place of the terminal: its last argument is the question, and the first line that
/// it writes the answer. One that ends with another status than 0 has none.
///
/// It has our environment and standard error, no input, and a process group of its own; it may take as long as the
/// person does, and is killed with all it started when this process ends. From the terminal it cannot read, being in
/// its background: that fails there in place of stopping it.
///
/// - Source: ssh(1) `SSH_ASKPASS`, git(1) `GIT_ASKPASS`, wget(1) `--use-askpass`.
final class AskProgram: TerminalHolder {
    /// The longest answer that is read, in bytes.
    private static let longestAnswer = 4096

    private struct State {
        /// The program, once it runs.
        var process: WorkerProcess?
        /// Whether it is ended, and none is started any more.
        var isOver = false
    }

    private let state = Guarded(State())

    /// Starts a program and waits for what it says.
    ///
    /// - Parameter command: The program, looked for on `PATH` unless it is a path, and its first arguments.
    /// - Returns: Nil when it cannot be started, or has no answer.
    static func answer(of command: [String], to question: String) -> String? {
        Signals.watchTerminal()
        let program = AskProgram()
        // Before it starts, so that it does not outlive a process that a signal ends meanwhile.
        guard TerminalHold.begin(program) else { return nil }
        defer { TerminalHold.end(program) }
        return try? program.run(command + [question])
    }

    private init() {}

    /// - Returns: Its answer, if any; nil too when it is not to start any more.
    private func run(_ command: [String]) throws(SystemError) -> String? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError(errno: errno, call: "socketpair") }
        let output = Descriptor(adopting: ends[0])
        let process = try start(command, saying: Descriptor(adopting: ends[1]))
        guard let process else { return nil }
        let line = Self.line(from: output, of: process)
        return Self.end(of: process) == .exited(0) ? line : nil
    }

    private func start(_ command: [String], saying output: consuming Descriptor) throws(SystemError) -> WorkerProcess? {
        let opened = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard opened >= 0 else { throw SystemError(errno: errno, call: "open") }
        let nothing = Descriptor(adopting: opened)
        return try state.withLock { state throws(SystemError) -> WorkerProcess? in
            if state.isOver { return nil }
            let process = try WorkerProcess.spawn(
                executable: "/bin/sh",
                arguments: ["sh", "-c", #"trap '' TTIN TTOU; exec "$@" >&3 3>&- 4>&-"#, "sh"] + command,
                environment: .own(), control: output, segment: nothing)
            state.process = process
            return process
        }
    }

    func enter() {}

    func leave(isForGood: Bool) {
        guard isForGood else { return }
        state.withLock { state in
            state.isOver = true
            state.process?.signalGroup(SIGKILL)
        }
    }

    /// What it writes up to the end of the first line; nil when that is too long.
    private static func line(from output: borrowing Descriptor, of process: WorkerProcess) -> String? {
        var said: [UInt8] = []
        said.reserveCapacity(2 * longestAnswer)
        defer { said.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
        var buffer = [UInt8](repeating: 0, count: longestAnswer)
        defer { buffer.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
        while said.count <= longestAnswer {
            let count = read(output.rawValue, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let line = said.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
                return String(decoding: line, as: UTF8.self)
            }
            said += buffer[..<count]
        }
        process.signalGroup(SIGKILL)
        return nil
    }

    /// How it ended, once it has.
    private static func end(of process: WorkerProcess) -> ProcessExit {
        while true {
            do throws(SystemError) {
                if let exit = try process.reap() { return exit }
            } catch {
                return .unknown
            }
            var watched = pollfd(fd: process.exitDescriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&watched, 1, -1)
        }
    }
}
