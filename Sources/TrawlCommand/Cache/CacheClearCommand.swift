import ArgumentParser
import TrawlHTTP
import TrawlJSON
import TrawlStore

/// `trawl cache clear`
struct CacheClearCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove everything, or all of one kind or of a time.",
        discussion: "Fetches that read a stored body meanwhile read it to its end.")

    @Flag(name: .customLong("session"), help: "Only what is kept for sessions, those that run now among them.")
    var isSession = false

    @Flag(name: .customLong("permanent"), help: "Only what is kept beyond its session.")
    var isPermanent = false

    @Option(
        name: .customLong("since"), parsing: .unconditional,
        help: ArgumentHelp("Only what was stored in the last so many seconds.", valueName: "seconds"))
    var sinceText: String?

    @OptionGroup var storage: CacheStoreArguments
    @OptionGroup var output: ListingArguments

    func validate() throws {
        if isSession, isPermanent { throw ValidationError("--session and --permanent exclude each other") }
        try OptionText.checkSeconds(sinceText, "--since <seconds>")
    }

    func execute(on store: CacheAtHand) throws(CommandError) -> Int32 {
        let since = sinceText.flatMap { SecondsArgument(argument: $0) }.map { argument in
            let (seconds, attoseconds) = argument.duration.components
            return store.now.advanced(byMilliseconds: -(seconds * 1000 + attoseconds / 1_000_000_000_000_000))
        }
        let removed = try store.read(0) { (responses) throws(StoreError) in
            if isSession { return try responses.removeSessions(storedSince: since) }
            if !isPermanent, since == nil { return try responses.removeAll() }
            return try responses.remove { listing in
                !(isPermanent && listing.isOfSession) && (since.map { listing.stored >= $0 } ?? true)
            }
        }
        var lines = ResultLines()
        if output.json {
            try lines.add { writer in
                writer.key("removed")
                writer.integer(removed)
            }
        } else {
            try lines.add("\(removed) removed")
        }
        try lines.flush()
        return ExitStatus.success
    }
}
