import ArgumentParser
import Trawl
import TrawlJSON
import TrawlStore

/// `trawl cache stats`
struct CacheStatsCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(commandName: "stats", abstract: "Tell how much is stored.")

    @OptionGroup var storage: CacheStoreArguments
    @OptionGroup var output: ListingArguments

    @Option(
        name: .customLong("cache-size"), parsing: .unconditional,
        help: ArgumentHelp("The budget to compare with. Default 1G.", valueName: "bytes"))
    var sizeText: String?

    var budget: UInt64? { sizeText.flatMap { ByteCountArgument(argument: $0) }?.bytes }

    func validate() throws {
        try OptionText.checkBytes(sizeText, "--cache-size <bytes>")
    }

    func execute(on store: CacheAtHand) throws(CommandError) -> Int32 {
        let (statistics, sessions) = try store.read((CacheStatistics.empty, 0)) { (responses) throws(StoreError) in
            (try responses.cache.statistics(), responses.sessionCount)
        }
        let summary = CacheSummary(
            directory: store.directory, statistics: statistics, sessions: sessions,
            budget: budget ?? CacheSettings().budget)
        var lines = ResultLines()
        if output.json {
            try lines.add { summary.write(to: &$0) }
        } else {
            for line in summary.lines { try lines.add(line) }
        }
        try lines.flush()
        return ExitStatus.success
    }
}

/// What `stats` says.
struct CacheSummary {
    let directory: String
    let statistics: CacheStatistics
    /// Sessions that have records.
    let sessions: Int
    let budget: UInt64

    /// Lines for people.
    var lines: [String] {
        let permanent = statistics.records - min(statistics.records, statistics.sessionRecords)
        var kinds = "\(permanent) permanent"
        if statistics.sessionRecords > 0 {
            kinds += ", \(statistics.sessionRecords) of \(sessions.counted("session"))"
        }
        let share = budget == 0 ? 0 : Double(statistics.bytes) / Double(budget) * 1000
        let tenths = share.isFinite && share < 1e9 ? Int(share.rounded(.down)) : 0
        return [
            "store      \(directory.terminalSafe)",
            "responses  \(statistics.records)  (\(kinds))",
            "URLs       \(statistics.keys)",
            "tables     \(ByteText.short(statistics.tableBytes))",
            "files      \(ByteText.short(statistics.blobBytes))  (\(statistics.blobs.counted("body", "bodies")))",
            "all        \(ByteText.short(statistics.bytes)) of \(ByteText.short(budget))  (\(tenths / 10).\(tenths % 10) %)",
        ]
    }

    /// Writes the members that docs/cache.md names.
    func write(to writer: inout JSONWriter) {
        writer.key("store")
        writer.string(directory)
        writer.key("responses")
        writer.integer(statistics.records)
        writer.key("session_responses")
        writer.integer(statistics.sessionRecords)
        writer.key("sessions")
        writer.integer(sessions)
        writer.key("urls")
        writer.integer(statistics.keys)
        writer.key("table_bytes")
        writer.integer(statistics.tableBytes)
        writer.key("files")
        writer.integer(statistics.blobs)
        writer.key("file_bytes")
        writer.integer(statistics.blobBytes)
        writer.key("bytes")
        writer.integer(statistics.bytes)
        writer.key("budget")
        writer.integer(budget)
    }
}
