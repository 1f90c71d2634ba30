import Glibc
import TrawlPlatform

extension WriteOut {
    /// Writes what is for standard error.
    /// - Returns: What is for standard output.
    func outputText(_ values: WriteOutValues, on console: Console) -> String {
        let text = text(values, escapes: (Terminal.isTerminal(STDOUT_FILENO), Terminal.isTerminal(STDERR_FILENO)))
        if !text.error.isEmpty { console.write(text.error) }
        return text.output
    }

    /// Writes both.
    func write(_ values: WriteOutValues, on console: Console) throws(SystemError) {
        try StandardStreams.write(Array(outputText(values, on: console).utf8), to: STDOUT_FILENO)
    }
}
