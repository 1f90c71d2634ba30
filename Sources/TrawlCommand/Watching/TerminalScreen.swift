import Glibc
import TrawlPlatform

/// A terminal that is drawn on as a whole, and is as before when that is over.
///
/// Keys come at once and are not shown; Ctrl-C, Ctrl-\, Ctrl-Z stay signals.
final class TerminalScreen: TerminalHolder {
    private struct State {
        /// How the terminal was; nil while it is not in use, or has no keys.
        var saved: termios?
        var isEntered = false
    }

    private let input: Int32
    private let output: Int32
    private let state = Guarded(State())

    /// - Parameters:
    ///   - input: Where keys come from, if it is a terminal.
    ///   - output: A terminal.
    init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
    }

    /// The columns and lines there are.
    var size: (width: Int, height: Int) { (Terminal.columns(output), Terminal.rows(output)) }

    /// Takes the terminal.
    func enter() {
        state.withLock { state in
            guard !state.isEntered else { return }
            state.isEntered = true
            var settings = termios()
            if isatty(input) == 1, tcgetattr(input, &settings) == 0 {
                state.saved = settings
                settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
                tcsetattr(input, TCSANOW, &settings)
            }
            // The other screen, without a cursor.
            StandardStreams.writeText("\u{1B}[?1049h\u{1B}[?25l", to: output)
        }
    }

    /// Gives it back.
    func leave(isForGood: Bool = false) {
        state.withLock { state in
            guard state.isEntered else { return }
            state.isEntered = false
            StandardStreams.writeText("\u{1B}[?25h\u{1B}[?1049l", to: output)
            if var saved = state.saved { tcsetattr(input, TCSANOW, &saved) }
            state.saved = nil
        }
    }

    /// Draws lines from the top, in place of all that was there.
    ///
    /// - Parameter lines: Of printable ASCII, as many and as long as there is room for.
    /// - Returns: Whether there is a terminal still.
    func draw(_ lines: [String]) -> Bool {
        // Each line is cleared after it was written, so that nothing flickers.
        let text = "\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
        return state.withLock { state in
            guard state.isEntered else { return true }
            do throws(SystemError) {
                try StandardStreams.write(Array(text.utf8), to: output)
                return true
            } catch {
                return false
            }
        }
    }
}
