import Glibc
import Trawl
import TrawlPlatform

/// Standard error: messages and the progress line, which make room for each other.
final class Console: Sendable {
    private let tellsFailures: Bool
    private let makesNotes: Bool
    /// Columns of the progress line that stands there now.
    private let drawn = Guarded(0)
    /// Writes for a run that must not wait.
    private let thread = Guarded<MessageThread?>(nil)

    init(_ arguments: ReportArguments) {
        tellsFailures = arguments.tellsFailures
        makesNotes = arguments.makesNotes
    }

    init(isSilent: Bool) {
        tellsFailures = !isSilent
        makesNotes = !isSilent
    }

    /// From now on nobody waits for who reads standard error, until `settle()`.
    func detach() throws(SystemError) {
        let started = try MessageThread()
        thread.withLock { $0 = started }
    }

    /// What was said is written, if anybody reads it; from now on all is written at once again.
    func settle() {
        thread.withLock { $0.take() }?.finish()
    }

    private func put(_ text: String) {
        if let thread = thread.withLock({ $0 }) { return thread.write(text) }
        StandardStreams.writeText(text, to: STDERR_FILENO)
    }

    /// Something failed.
    func failure(_ message: String) {
        if tellsFailures { write("trawl: \(message)\n") }
    }

    /// Something a person may want to know.
    func note(_ message: String) {
        if makesNotes { write("trawl: \(message)\n") }
    }

    /// What about whom is trusted a person should know.
    func note(_ tls: RequestOptions.TLS) {
        guard tls.verification == .none else { return }
        note("-k: the certificate of the URL's host is not checked; whoever is on the way can read and change all")
    }

    /// Whole lines, as they are.
    func write(_ lines: String) {
        drawn.withLock { drawn in
            put(Self.erasing(&drawn) + lines)
        }
    }

    /// Draws the progress line over the one before.
    ///
    /// - Parameter width: Columns of the terminal; what the line before had beyond is lost with them.
    func draw(_ line: String, width: Int) {
        guard Terminal.isForeground(STDERR_FILENO) else { return }
        drawn.withLock { drawn in
            let count = line.utf8.count
            let rest = String(repeating: " ", count: max(0, min(drawn, width - 1) - count))
            put("\r" + line + rest)
            drawn = count
        }
    }

    /// Takes the progress line away.
    func erase() {
        drawn.withLock { drawn in
            let text = Self.erasing(&drawn)
            if !text.isEmpty { put(text) }
        }
    }

    /// Plain characters only: no terminal takes them amiss.
    private static func erasing(_ drawn: inout Int) -> String {
        guard drawn > 0 else { return "" }
        defer { drawn = 0 }
        let width = min(drawn, max(0, Terminal.columns(STDERR_FILENO) - 1))
        return "\r" + String(repeating: " ", count: width) + "\r"
    }
}
