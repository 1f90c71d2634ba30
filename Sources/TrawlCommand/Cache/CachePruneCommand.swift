import ArgumentParser
import TrawlJSON
import TrawlStore

/// `trawl cache prune`
struct CachePruneCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Make the cache keep its budget, and remove what nobody needs.",
        discussion: """
            What was not used for longest goes first. Files that no response refers to go, and what sessions left whose \
            programs are dead.
            """)

    @Option(
        name: .customLong("size"), parsing: .unconditional,
        help: ArgumentHelp("Leave at most so many bytes; k, M, G and T are known. Default 1G.", valueName: "bytes"))
    var sizeText: String?

    @OptionGroup var storage: CacheStoreArguments
    @OptionGroup var output: ListingArguments

    var budget: UInt64? { sizeText.flatMap { ByteCountArgument(argument: $0) }?.bytes }

    func validate() throws {
        try OptionText.checkBytes(sizeText, "--size <bytes>")
    }

    func execute(on store: CacheAtHand) throws(CommandError) -> Int32 {
        var before = CacheStatistics.empty
        var after = CacheStatistics.empty
        _ = try store.read(0) { (responses) throws(StoreError) in
            before = try responses.cache.statistics()
            let removed = try responses.prune()
            after = try responses.cache.statistics()
            return removed
        }
        let removed = before.records - min(before.records, after.records)
        var lines = ResultLines()
        if output.json {
            try lines.add { writer in
                writer.key("removed")
                writer.integer(removed)
                writer.key("bytes_before")
                writer.integer(before.bytes)
                writer.key("bytes")
                writer.integer(after.bytes)
            }
        } else {
            // What was made anew has pages now that it had not.
            let all = max(before.bytes, after.bytes)
            try lines.add("\(removed) removed, \(ByteText.short(after.bytes)) of \(ByteText.short(all)) left")
        }
        try lines.flush()
        return ExitStatus.success
    }
}
