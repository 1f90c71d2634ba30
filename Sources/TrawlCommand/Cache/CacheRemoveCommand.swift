import ArgumentParser
import Trawl
import TrawlHTTP
import TrawlJSON
import TrawlStore

/// `trawl cache rm URL…`
struct CacheRemoveCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove what is stored under URLs, all variants of it.",
        discussion: "A URL under which nothing is stored is no failure.")

    @Argument(help: ArgumentHelp("What to remove.", valueName: "url"))
    var urls: [String] = []

    @Flag(
        name: .customLong("prefix"),
        help: "Remove all URLs that begin like those given; a host alone is all of that origin.")
    var isPrefix = false

    @OptionGroup var storage: CacheStoreArguments
    @OptionGroup var output: ListingArguments

    func validate() throws {
        if urls.isEmpty { throw ValidationError("no URL is given") }
        if urls.contains("") { throw ValidationError("a URL is empty") }
    }

    func execute(on store: CacheAtHand) throws(CommandError) -> Int32 {
        var lines = ResultLines()
        let keys = isPrefix ? [] : try urls.map { text throws(CommandError) in try StoredURL.keys(of: text) }
        for (index, url) in urls.enumerated() {
            let removed = try store.read(0) { (responses) throws(StoreError) in
                if isPrefix {
                    let prefix = StoredURLPrefix(url)
                    return try responses.remove { prefix.matches($0.url) }
                }
                var removed = 0
                for key in keys[index] { removed += try responses.removeAll(under: key) }
                return removed
            }
            let shown = UserInformation.removed(from: url)
            if output.json {
                try lines.add { writer in
                    writer.key(isPrefix ? "prefix" : "url")
                    writer.string(shown)
                    writer.key("removed")
                    writer.integer(removed)
                }
            } else {
                try lines.add("\(removed) removed  \(shown.terminalSafe)")
            }
        }
        try lines.flush()
        return ExitStatus.success
    }
}
