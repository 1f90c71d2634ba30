import Glibc
import TrawlPlatform

/// Standard error as all of the process share it: messages, the progress line, and a question to the person at the same
/// terminal, which make room for one another.
enum StandardError {
    private struct State {
        /// Columns of the progress line that stands there now.
        var drawn = 0
        /// Whether none is drawn, since the command is about to be stopped.
        var isPaused = false
        /// The line of the question that is to be answered in it; nil when nothing is asked there.
        var question: String?
        /// Writes for a run that must not wait.
        var thread: MessageThread?

        func put(_ text: String) {
            if text.isEmpty { return }
            if let thread { return thread.write(text) }
            StandardStreams.writeText(text, to: STDERR_FILENO)
        }

        /// Plain characters only: no terminal takes them amiss.
        mutating func erasing() -> String {
            guard drawn > 0 else { return "" }
            defer { drawn = 0 }
            let width = min(drawn, max(0, Terminal.columns(STDERR_FILENO) - 1))
            return "\r" + String(repeating: " ", count: width) + "\r"
        }
    }

    private static let state = Guarded(State())

    // MARK: Who writes

    /// From now on nobody waits for who reads standard error, until `settle()`.
    static func detach() throws(SystemError) {
        let started = try MessageThread()
        state.withLock { $0.thread = started }
    }

    /// What was said is written, if anybody reads it; from now on all is written at once again.
    static func settle() {
        state.withLock { $0.thread.take() }?.finish()
    }

    // MARK: Lines

    /// Whole lines, as they are. A question that stands there is asked again below them.
    static func write(_ lines: String) {
        state.withLock { state in
            if let question = state.question { return state.put("\n" + lines + question) }
            state.put(state.erasing() + lines)
        }
    }

    /// Draws the progress line over the one before. A question is left alone.
    ///
    /// - Parameter width: Columns of the terminal; what the line before had beyond is lost with them.
    static func draw(_ line: String, width: Int) {
        guard Terminal.mayDraw(STDERR_FILENO) else { return }
        state.withLock { state in
            guard state.question == nil, !state.isPaused else { return }
            let count = line.utf8.count
            state.put("\r" + line + String(repeating: " ", count: max(0, min(state.drawn, width - 1) - count)))
            state.drawn = count
        }
    }

    /// Takes the progress line away.
    static func erase() {
        state.withLock { $0.put($0.erasing()) }
    }

    /// Takes the progress line away until `resume()`: who stops the command finds none on the terminal.
    static func pause() {
        state.withLock { state in
            state.put(state.erasing())
            state.isPaused = true
        }
    }

    /// The progress line may be drawn again.
    static func resume() {
        state.withLock { $0.isPaused = false }
    }

    // MARK: Questions

    /// Whether a person has a question to answer there: nothing that comes by itself is to be shown.
    static var isAsking: Bool { state.withLock { $0.question != nil } }

    /// Writes a question to the terminal.
    ///
    /// - Parameter terminal: That of the process. Standard error may lead elsewhere; then neither disturbs the other.
    static func ask(_ question: String, at terminal: Int32) {
        guard Terminal.isControlling(STDERR_FILENO) else {
            return StandardStreams.writeText(question, to: terminal)
        }
        state.withLock { state in
            state.put(state.erasing() + question)
            state.question = question.split(separator: "\n", omittingEmptySubsequences: false).last.map(String.init)
        }
    }

    /// Writes the line of a question once more, if there is one: something else was written on the terminal meanwhile.
    static func askAgain() {
        state.withLock { state in
            if let question = state.question { state.put(question) }
        }
    }

    /// The question is over.
    ///
    /// - Parameter endsLine: Whether the cursor still stands behind it, since no line was typed.
    static func answered(endsLine: Bool) {
        state.withLock { state in
            guard state.question != nil else { return }
            state.question = nil
            if endsLine { state.put("\n") }
        }
    }
}
