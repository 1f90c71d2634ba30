import Glibc
import Trawl
import TrawlPlatform

extension Console {
    /// Writes what a coordinator is doing, for who asked by a signal. It waits a moment for the engine.
    func writeStatus(of coordinator: Coordinator) {
        guard let report = coordinator.statusBlocking() else {
            return write("trawl: the engine is over, or has no time to tell its status\n")
        }
        let width = Terminal.isTerminal(STDERR_FILENO) ? Terminal.columns(STDERR_FILENO) - 1 : 200
        let lines = StatusText.lines(report, width: width)
        if !lines.isEmpty { write(lines.joined(separator: "\n") + "\n") }
    }
}
