import Glibc
import Trawl
import TrawlPlatform

/// Asks the person at the terminal for what must not be seen.
enum SecretPrompt {
    /// Writes a question to the terminal of this process and reads a line without showing it.
    ///
    /// The terminal is that of the process, wherever its standard streams lead. While the line is read it shows nothing
    /// of what is typed; afterwards it is as before, also when the reading fails, and when a signal ends or stops the
    /// process.
    ///
    /// - Parameter isShown: Whether what is typed is seen, since it is no secret.
    /// - Returns: Nil when there is no terminal, the person gave none (end of input), or the process is ending.
    static func read(_ question: String, isShown: Bool = false) -> String? {
        guard let opened = open(), let terminal = SilentTerminal(opened, isShown: isShown) else { return nil }
        Signals.watchTerminal()
        guard TerminalHold.begin(terminal) else { return nil }
        defer { TerminalHold.end(terminal) }
        return terminal.answer(to: question)
    }

    /// Whether there is somebody to ask: a terminal, with this process in its foreground. One in the background would
    /// be stopped by asking. Nor is there where a list is typed at the terminal: a password would be taken for one of
    /// its lines.
    static var hasPerson: Bool {
        if StandardStreams.listIsTyped { return false }
        guard let terminal = open() else { return false }
        return Terminal.isForeground(terminal.rawValue)
    }

    private static func open() -> Descriptor? {
        let opened = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        return opened >= 0 ? Descriptor(adopting: opened) : nil
    }
}

/// A terminal that a line is read from, and does not show it.
private final class SilentTerminal: TerminalHolder {
    private let terminal: Descriptor
    private let before: termios
    private let silent: termios
    private let isSilent = Guarded(false)
    /// Signalled when nobody is to be read from any more.
    private let over: WakeUp

    /// - Returns: Nil when it is no terminal.
    init?(_ terminal: consuming Descriptor, isShown: Bool) {
        var settings = termios()
        guard tcgetattr(terminal.rawValue, &settings) == 0, let over = try? WakeUp() else { return nil }
        before = settings
        if !isShown { settings.c_lflag &= ~tcflag_t(ECHO) }
        settings.c_lflag |= tcflag_t(ECHONL | ICANON)
        silent = settings
        self.terminal = terminal
        self.over = over
    }

    func enter() {
        set(true)
        StandardError.askAgain()
    }

    func leave(isForGood: Bool) {
        set(false)
        if isForGood { over.signal() }
    }

    private func set(_ toSilent: Bool) {
        isSilent.withLock { isSilent in
            guard isSilent != toSilent else { return }
            isSilent = toSilent
            var settings = toSilent ? silent : before
            tcsetattr(terminal.rawValue, TCSAFLUSH, &settings)
        }
    }

    /// Writes a question and reads a line, when one comes before it is over.
    func answer(to question: String) -> String? {
        StandardError.ask(question, at: terminal.rawValue)
        var isLine = false
        defer { StandardError.answered(endsLine: !isLine) }
        var line: [UInt8] = []
        line.reserveCapacity(1024)
        defer { line.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
        while line.count < 4096 {
            var pollers = [
                pollfd(fd: terminal.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: over.rawValue, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&pollers, 2, -1) > 0 || errno == EINTR else { return nil }
            if pollers[1].revents != 0 { return nil }
            if pollers[0].revents == 0 { continue }
            var byte: UInt8 = 0
            let count = Glibc.read(terminal.rawValue, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") {
                isLine = true
                break
            }
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }
}
