import Foundation

extension String {
    /// As one word of a shell, whatever it holds.
    var shellWord: String { "'" + replacingOccurrences(of: "'", with: "'\\''") + "'" }
}

extension [String] {
    /// As the words of a shell's command.
    var shellWords: String { map(\.shellWord).joined(separator: " ") }
}
