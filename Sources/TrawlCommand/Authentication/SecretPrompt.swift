import Glibc
import Trawl
import TrawlPlatform

/// Asks the person at the terminal for what must not be seen.
enum SecretPrompt {
    /// Writes a question to the terminal of this process and reads a line without showing it.
    ///
    /// The terminal is that of the process, wherever its standard streams lead. While the line is read it shows nothing of
    /// what is typed; afterwards it is as before, also when the reading fails.
    ///
    /// - Parameter isShown: Whether what is typed is seen, since it is no secret.
    /// - Returns: Nil when there is no terminal, or the person gave none: end of input.
    static func read(_ question: String, isShown: Bool = false) -> String? {
        let opened = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard opened >= 0 else { return nil }
        let terminal = Descriptor(adopting: opened)
        var before = termios()
        guard tcgetattr(terminal.rawValue, &before) == 0 else { return nil }
        var silent = before
        if !isShown { silent.c_lflag &= ~tcflag_t(ECHO) }
        silent.c_lflag |= tcflag_t(ECHONL | ICANON)
        guard tcsetattr(terminal.rawValue, TCSAFLUSH, &silent) == 0 else { return nil }
        defer { tcsetattr(terminal.rawValue, TCSAFLUSH, &before) }
        StandardStreams.writeText(question, to: terminal.rawValue)
        return line(from: terminal.rawValue)
    }

    private static func line(from descriptor: Int32) -> String? {
        var line: [UInt8] = []
        line.reserveCapacity(1024)
        defer { line.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
        while line.count < 4096 {
            var byte: UInt8 = 0
            let count = Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { break }
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }
}
