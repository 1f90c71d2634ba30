import ArgumentParser
import Trawl
import TrawlJSON
import TrawlPlatform
import TrawlStore

/// `trawl cache export DIR`
struct CacheExportCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write stored bodies into files named by host and path, with an index.",
        discussion: """
            Files are named as by trawl batch, and none is replaced: a name that is taken by other bytes gets a number. The \
            index, index.ndjson in the directory, has one JSON object for each response. Content codings are undone. With \
            --by-key a file's name is the SHA-256 of its URL and the URL's extension, or .html for none and for those of \
            programs on a server.
            """)

    @Argument(help: ArgumentHelp("Where to; made if it is not there.", valueName: "directory"), completion: .directory)
    var directory: String

    @Option(
        name: .customLong("prefix"), parsing: .unconditional,
        help: ArgumentHelp("Only URLs that begin like this; a host alone is all of that origin.", valueName: "url"))
    var prefix: String?

    @Flag(name: .customLong("raw"), help: "Leave content codings on, and write parts of bodies too.")
    var raw = false

    @Flag(name: .customLong("by-key"), help: "Name files by the SHA-256 of their URL, all in one directory.")
    var byKey = false

    @OptionGroup var storage: CacheStoreArguments
    @OptionGroup var output: ListingArguments

    func validate() throws {
        if directory.isEmpty { throw ValidationError("the directory's name is empty") }
    }

    func execute(on store: CacheAtHand) throws(CommandError) -> Int32 {
        let path: String
        let export: CacheExport
        do throws(SystemError) {
            path = try LocalPath.absolute(directory)
            try LocalPath.makeDirectories(path)
            export = try CacheExport(into: OutputRoot(path: path), decodes: !raw, namesByKey: byKey, at: store.now)
        } catch {
            throw CommandError(file: directory, error.errno, status: ExitStatus.cannotCreate)
        }
        try store.forEach(prefix.map { StoredURLPrefix($0) }) { (listing) throws(CommandError) in
            guard let responses = store.responses else { return false }
            try export.add(listing, from: responses)
            return true
        }
        let index = try export.finish()
        var lines = ResultLines()
        if output.json {
            try lines.add { writer in
                writer.key("responses")
                writer.integer(export.responses)
                writer.key("files")
                writer.integer(export.files)
                writer.key("bytes")
                writer.integer(export.bytes)
                writer.key("failed")
                writer.integer(export.failed)
                writer.key("index")
                writer.string(index)
            }
        } else {
            let failed = export.failed > 0 ? ", \(export.failed) failed" : ""
            try lines.add(
                "\(export.responses.counted("response")), \(export.files.counted("file")), "
                    + "\(ByteText.short(export.bytes))\(failed), listed in "
                    + LocalPath.joined(path, index).terminalSafe)
        }
        try lines.flush()
        return export.failed > 0 ? ExitStatus.someFailed : ExitStatus.success
    }
}
