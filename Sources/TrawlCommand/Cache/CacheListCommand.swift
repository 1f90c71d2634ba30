import ArgumentParser
import TrawlStore

/// `trawl cache ls [PREFIX]`
struct CacheListCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List stored responses in the order they were stored in.",
        discussion: """
            Of each: the status, the length of the stored body (+ when it is a part), its age, whether it is fresh and \
            for how long or since when it is stale, how long it is kept, and the URL.
            """)

    @Argument(
        help: ArgumentHelp("Only URLs that begin like this; a host alone is all of that origin.", valueName: "prefix"))
    var prefix: String?

    @OptionGroup var storage: CacheStoreArguments
    @OptionGroup var output: ListingArguments

    func execute(on store: CacheAtHand) throws(CommandError) -> Int32 {
        var lines = ResultLines()
        var isFirst = !output.json
        try store.forEach(prefix.map { StoredURLPrefix($0) }) { (listing) throws(CommandError) in
            if isFirst { try lines.add(StoredListing.heading) }
            isFirst = false
            if output.json {
                try lines.add { listing.write(to: &$0, at: store.now) }
            } else {
                try lines.add(listing.line(at: store.now))
            }
            return !lines.isClosed
        }
        try lines.flush()
        return ExitStatus.success
    }
}
