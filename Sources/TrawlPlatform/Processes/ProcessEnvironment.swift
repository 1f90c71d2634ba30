import CTrawlPlatform
import Glibc

/// The variables a process is started with, as bytes: paths and the like need not be UTF-8.
package struct ProcessEnvironment: Sendable, Equatable {
    /// Each `NAME=value` with its zero.
    let entries: [[CChar]]

    private init(entries: [[CChar]]) { self.entries = entries }

    /// Variables written as `NAME=value`.
    package init(_ variables: [String]) { entries = variables.map { Array($0.utf8CString) } }

    /// A copy of this process's, byte for byte; empty where it has none (clearenv(3)). Not while another thread changes
    /// it.
    package static func own() -> ProcessEnvironment {
        var entries: [[CChar]] = []
        if var place = cplatform_environment() {
            while let variable = place.pointee {
                entries.append(Array(UnsafeBufferPointer(start: variable, count: strlen(variable) + 1)))
                place += 1
            }
        }
        return ProcessEnvironment(entries: entries)
    }

    /// The variables of these names alone.
    package func keeping(_ names: [String]) -> ProcessEnvironment {
        let starts = names.map { "\($0)=".utf8CString.dropLast() }
        return ProcessEnvironment(
            entries: entries.filter { entry in starts.contains { entry.starts(with: $0) } })
    }
}
