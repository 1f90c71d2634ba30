import ArgumentParser
import Glibc
import Trawl
import TrawlHTTP

/// What a run does at SIGHUP when its options came from files (`-K FILE`): it reads them again, and takes the limit of
/// bandwidth from there.
///
/// All else is settled when a run starts. Files that can be read but once (pipes, standard input) do not count.
struct ConfigReload: Sendable {
    /// As given, without the program's name.
    private let arguments: [String]
    private let files: Set<String>

    /// - Returns: Nil when no option came from a file that can be read again.
    init?(_ arguments: [String]) {
        var files: Set<String> = []
        _ = try? ArgumentExpansion.expand(arguments) { file throws(CommandError) in
            if Self.isRegular(file) { files.insert(file) }
            return []
        }
        if files.isEmpty { return nil }
        self.arguments = arguments
        self.files = files
    }

    /// That of this program.
    static func ofProgram() -> ConfigReload? { ConfigReload(Array(CommandLine.arguments.dropFirst())) }

    /// Reads the files again.
    ///
    /// - Throws: What is wrong with them, in words for a person.
    func limit() throws(CommandError) -> BandwidthLimit {
        let expanded = try ArgumentExpansion.expand(arguments) { file throws(CommandError) in
            guard files.contains(file) else { return [] }
            // This is the thread of signals, and what it would wait for it could not be told to leave.
            guard Self.isRegular(file) else { throw CommandError("\(file.terminalSafe) is no regular file any more") }
            return try StandardStreams.readAll(file, limit: 1 << 20)
        }
        do {
            let command = try TrawlCommand.parseAsRoot(expanded) as? any FetchingCommand
            return BandwidthLimit(command?.pool.rate?.bytesPerSecond ?? 0)
        } catch {
            throw CommandError(UsageText.of(TrawlCommand.message(for: error), about: expanded))
        }
    }

    private static func isRegular(_ file: String) -> Bool {
        var info = stat()
        return file != "-" && stat(file, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
    }

    /// Does it, and says what came of it.
    func reload(for coordinator: Coordinator, _ console: Console) {
        do throws(CommandError) {
            let limit = try limit()
            guard limit.download != coordinator.bandwidthLimit.download else { return }
            coordinator.setBandwidthLimit(limit)
            console.note(limit.isUnlimited ? "no limit of bandwidth now" : "limit now \(limit.download) bytes/s")
        } catch {
            console.failure("\(error.message); the limit of bandwidth stays as it is")
        }
    }
}
