import Glibc
import Trawl
import TrawlPlatform

extension WriteOut {
    /// Says which variables there are none of, also to who wants no messages: what is printed lacks something.
    func tellUnknown(on console: Console) {
        for name in unknown { console.write("trawl: unknown --write-out variable: '\(name.terminalSafe)'\n") }
    }

    /// Writes what is for standard error.
    /// - Returns: What is for standard output.
    func output(_ values: WriteOutValues, on console: Console) -> [UInt8] {
        let bytes = bytes(values, escapes: (Terminal.isTerminal(STDOUT_FILENO), Terminal.isTerminal(STDERR_FILENO)))
        // Beside messages it is text.
        if !bytes.error.isEmpty { console.write(String(decoding: bytes.error, as: UTF8.self)) }
        return bytes.output
    }

    /// Writes both.
    func write(_ values: WriteOutValues, on console: Console) throws(SystemError) {
        try StandardStreams.write(output(values, on: console), to: STDOUT_FILENO)
    }
}
