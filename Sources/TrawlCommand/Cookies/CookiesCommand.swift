import ArgumentParser
import TrawlJSON

/// `trawl cookies`: the jar, looked at and changed. Its subcommands touch no network and start no worker.
struct CookiesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cookies",
        abstract: "List, set, remove, import and export cookies.",
        discussion: """
            The jar is the one that get, batch and pipe use: that of the store, trawl in $XDG_CACHE_HOME or ~/.cache or \
            that of --store; with --jar another one of that store, by its name. Fetches that run meanwhile see each change.

            Exit status: 0 done, 1 some cookies could not be taken, 2 wrong usage or a file cannot be read, 65 the jar is \
            damaged, 73 or 74 files cannot be made or written, 75 another process is in the way, 77 the store may not be \
            read or written, 78 it is of another version, another user's or none.
            """,
        subcommands: [
            CookiesListCommand.self, CookiesSetCommand.self, CookiesRemoveCommand.self, CookiesClearCommand.self,
            CookiesImportCommand.self, CookiesExportCommand.self,
        ])
}

/// Options of all subcommands of `cookies`.
struct CookieJarArguments: ParsableArguments {
    @Option(
        name: .customLong("store"), parsing: .unconditional,
        help: ArgumentHelp(
            "The store's directory. Default: trawl in $XDG_CACHE_HOME or ~/.cache.", valueName: "directory"),
        completion: .directory)
    var store: String?

    @Option(
        name: .customLong("jar"), parsing: .unconditional,
        help: ArgumentHelp("The jar of this name in place of the shared one.", valueName: "name"))
    var jar: String?

    func validate() throws {
        if let store, store.isEmpty { throw ValidationError("--store: the directory's name is empty") }
        if let jar, jar.isEmpty || jar.utf8.count > 255 { throw ValidationError("--jar: a name has 1 to 255 bytes") }
    }
}

/// A subcommand of `cookies`.
protocol CookiesSubcommand: RunnableCommand {
    var jar: CookieJarArguments { get }

    /// Whether it may make a store that is not there.
    var makesStore: Bool { get }

    /// Does it all on a jar, whose store is closed afterwards.
    ///
    /// - Returns: The exit status.
    func execute(on jar: CookiesAtHand) throws(CommandError) -> Int32
}

extension CookiesSubcommand {
    var makesStore: Bool { false }

    func execute() throws(CommandError) -> Int32 {
        let cookies = try CookiesAtHand(jar.store, jar: jar.jar ?? "", makes: makesStore)
        defer { cookies.close() }
        return try execute(on: cookies)
    }
}

extension ResultLines {
    /// Adds a line that tells a number, and what it counts.
    mutating func add(_ count: Int, _ word: StaticString, asJSON isJSON: Bool) throws(CommandError) {
        if isJSON {
            try add { writer in
                writer.key(word)
                writer.integer(count)
            }
        } else {
            try add("\(count) \(word)")
        }
    }
}
