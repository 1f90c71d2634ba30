import Foundation
import Glibc
import TrawlPlatform

/// A process on a terminal of its own, as in a window: what is typed comes from its keyboard, interrupts included.
final class TerminalProcess: Sendable {
    private struct State {
        var written: [UInt8] = []
        var screen: Screen
        var status: Int32?
    }

    let pid: pid_t
    private let master: Int32
    /// The side of the program, held open: what it wrote stays readable after its end.
    private let slave: Int32
    private let state: Guarded<State>

    // What Glibc's module leaves out: TIOCSPTLCK, TIOCGPTN and POSIX_SPAWN_SETSID.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430
    private static let newSession: Int32 = 0x80

    /// Starts an executable in a session of its own with a new terminal.
    ///
    /// - Parameters:
    ///   - arguments: Without the name of the program.
    ///   - errors: A file for standard error; nil is the terminal.
    ///   - output: A file for standard output; nil is the terminal.
    ///   - echoes: Whether the terminal shows what is typed, as it does for people.
    ///   - isControlling: Whether the terminal is that of the session, so that its keys send signals. Programs that read
    ///     a terminal and write none, as those that use `openpty`, give one that is not.
    init(
        _ executable: String, _ arguments: [String], columns: Int = 80, output: String? = nil, errors: String? = nil,
        echoes: Bool = false, isControlling: Bool = true
    ) throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var number: Int32 = 0
        var isLocked: Int32 = 0
        guard master >= 0, ioctl(master, Self.unlock, &isLocked) == 0, ioctl(master, Self.getNumber, &number) == 0
        else {
            if master >= 0 { close(master) }
            throw ChildProcess.Failure(description: "no terminal can be had: errno \(errno)")
        }
        let name = "/dev/pts/\(number)"
        let slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var settings = termios()
        tcgetattr(slave, &settings)
        settings.c_lflag &= ~tcflag_t(echoes ? ECHOCTL : ECHO | ECHOCTL)
        // Ctrl-C would throw away what was written and not yet read.
        settings.c_lflag |= tcflag_t(NOFLSH)
        tcsetattr(slave, TCSANOW, &settings)
        Self.setColumns(columns, of: slave)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens becomes its own, and its process group the foreground.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR | (isControlling ? 0 : O_NOCTTY), 0)
        for (number, file) in [(Int32(1), output), (2, errors)] {
            if let file {
                posix_spawn_file_actions_addopen(&actions, number, file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            } else {
                posix_spawn_file_actions_adddup2(&actions, 0, number)
            }
        }
        do {
            pid = try actions.start(executable, arguments, flags: Self.newSession, resetsSignals: true)
        } catch {
            close(slave)
            close(master)
            throw error
        }
        _ = fcntl(master, F_SETFL, fcntl(master, F_GETFL) | O_NONBLOCK)
        self.master = master
        self.slave = slave
        state = Guarded(State(screen: Screen(columns: columns)))
    }

    deinit {
        kill(pid, SIGKILL)
        _ = exitStatus(waiting: true)
        close(slave)
        close(master)
    }

    /// Presses keys: `\u{3}` is Ctrl-C, `\u{1A}` Ctrl-Z.
    func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
    }

    /// Makes the window narrower or wider.
    func resize(columns: Int) {
        state.withLock { state in
            read(&state)
            state.screen.resize(columns: columns)
            Self.setColumns(columns, of: master)
        }
    }

    /// Whether the terminal shows what is typed.
    var echoes: Bool { setting(ECHO) }

    /// Whether it hands on whole lines.
    var handsOnLines: Bool { setting(ICANON) }

    private func setting(_ flag: Int32) -> Bool {
        var settings = termios()
        return tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(flag) != 0
    }

    /// All that was written to the terminal so far.
    var written: [UInt8] {
        state.withLock { state in
            read(&state)
            return state.written
        }
    }

    /// The same as text.
    var text: String { String(decoding: written, as: UTF8.self) }

    /// What stands on the terminal now.
    var screen: Screen {
        state.withLock { state in
            read(&state)
            return state.screen
        }
    }

    /// How it ended, as `waitpid` says it; nil while it runs.
    var status: Int32? { exitStatus(waiting: false) }

    /// The exit status; nil while it runs and after a signal.
    var exitCode: Int32? { status.flatMap { $0 & 0x7F == 0 ? $0 >> 8 & 0xFF : nil } }

    /// The signal that ended it; nil while it runs and after an exit.
    var endingSignal: Int32? { status.flatMap { $0 & 0x7F == 0 ? nil : $0 & 0x7F } }

    private func exitStatus(waiting: Bool) -> Int32? {
        state.withLock { state in
            read(&state)
            guard state.status == nil else { return state.status }
            var status: Int32 = 0
            if waitpid(pid, &status, waiting ? 0 : WNOHANG) == pid {
                read(&state)
                state.status = status
            }
            return state.status
        }
    }

    /// Reads all that was written before: a terminal hands bytes on a moment later, so a mark is sent after them.
    private func read(_ state: inout State) {
        var mark: UInt8 = 0xFF
        var isMarked = false
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            if !isMarked { isMarked = write(slave, &mark, 1) == 1 }
            var wait = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, isMarked ? 10_000 : 0) > 0 || !isMarked else { return }
            let count = Glibc.read(master, &chunk, chunk.count)
            guard count > 0 else { continue }
            let isComplete = chunk[..<count].contains(mark)
            let bytes = chunk[..<count].filter { $0 != mark }
            state.written += bytes
            state.screen.show(bytes[...])
            if isComplete { return }
        }
    }

    private static func setColumns(_ columns: Int, of descriptor: Int32) {
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    }
}

/// A terminal that knows printable ASCII, CR, LF, and where a line is full.
struct Screen {
    private(set) var columns: Int
    /// From the top; nothing scrolls away.
    private(set) var rows: [[UInt8]] = [[]]
    private var column = 0
    /// How often a line went on in the next one for want of room.
    private(set) var wraps = 0
    /// Bytes that are neither printable ASCII nor CR, LF or tab.
    private(set) var strangeBytes: [UInt8] = []

    init(columns: Int) {
        self.columns = columns
    }

    /// The lines without blanks at their ends, and without empty ones at the end.
    var lines: [String] {
        var lines = rows.map { row in
            String(decoding: row.prefix(row.count - row.reversed().prefix { $0 == 0x20 }.count), as: UTF8.self)
        }
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    /// The line in which the cursor is.
    var lastLine: String {
        String(decoding: rows.last ?? [], as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }

    mutating func resize(columns: Int) {
        self.columns = columns
        for index in rows.indices { rows[index] = Array(rows[index].prefix(columns)) }
    }

    mutating func show(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            switch byte {
            case 0x0D: column = 0
            case 0x0A:
                rows.append([])
                column = 0
            case 0x09, 0x20...0x7E: put(byte)
            default: strangeBytes.append(byte)
            }
        }
    }

    private mutating func put(_ byte: UInt8) {
        if column >= columns {
            wraps += 1
            rows.append([])
            column = 0
        }
        let last = rows.count - 1
        while rows[last].count <= column { rows[last].append(0x20) }
        rows[last][column] = byte
        column += 1
    }
}
