import ArgumentParser
import Glibc
import Trawl
import TrawlStore

/// `trawl cache`: what is stored, looked at and put in order. Its subcommands touch no network and start no worker.
struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Look at stored responses, take them out, remove and check them.",
        discussion: """
            The store is the one that get, batch and pipe use: trawl in $XDG_CACHE_HOME or ~/.cache, or that of --store. \
            None of these commands uses the network. With --json each writes one JSON object a line to standard output.

            Exit status: 0 done, 1 nothing is stored that was asked for, or some could not be exported, 2 wrong usage, \
            65 something stored is damaged, 73 or 74 files cannot be made or written, 75 another process is in the way, 77 \
            the store may not be read or written, 78 the store is of another version, another user's or none.
            """,
        subcommands: [
            CacheStatsCommand.self, CacheListCommand.self, CacheGetCommand.self, CacheRemoveCommand.self,
            CacheClearCommand.self, CacheVerifyCommand.self, CachePruneCommand.self, CacheExportCommand.self,
        ])
}

/// Options of all subcommands of `cache`.
struct CacheStoreArguments: ParsableArguments {
    @Option(
        name: .customLong("store"), parsing: .unconditional,
        help: ArgumentHelp(
            "The store's directory. Default: trawl in $XDG_CACHE_HOME or ~/.cache.", valueName: "directory"),
        completion: .directory)
    var store: String?

    func validate() throws {
        if let store, store.isEmpty { throw ValidationError("--store: the directory's name is empty") }
    }
}

/// A subcommand of `cache`.
protocol CacheSubcommand: RunnableCommand {
    var storage: CacheStoreArguments { get }

    /// Bytes the cache may take, when the command line says so.
    var budget: UInt64? { get }

    /// Does it all on a store, which is closed afterwards.
    ///
    /// - Returns: The exit status.
    func execute(on store: CacheAtHand) throws(CommandError) -> Int32
}

extension CacheSubcommand {
    var budget: UInt64? { nil }

    func execute() throws(CommandError) -> Int32 {
        let store = try CacheAtHand(storage.store, budget: budget)
        defer { store.close() }
        if store.responses?.cache.hasLostEverything == true {
            let directory = store.directory.terminalSafe
            StandardStreams.writeText(
                "trawl: the cache in \(directory) was damaged, and is empty now\n", to: STDERR_FILENO)
        }
        return try execute(on: store)
    }
}
