import ArgumentParser
import TrawlHTTP
import TrawlSession
import TrawlStore

/// `trawl cookies clear`
struct CookiesClearCommand: CookiesSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove all cookies of the jar, or those without a time, or those of a time.")

    @Flag(name: .customLong("session"), help: "Only those that no time was set for.")
    var isSession = false

    @Option(
        name: .customLong("since"), parsing: .unconditional,
        help: ArgumentHelp("Only those made in the last so many seconds.", valueName: "seconds"))
    var sinceText: String?

    @OptionGroup var jar: CookieJarArguments
    @OptionGroup var output: ListingArguments

    func validate() throws {
        try OptionText.checkSeconds(sinceText, "--since <seconds>")
    }

    func execute(on jar: CookiesAtHand) throws(CommandError) -> Int32 {
        let since = sinceText.flatMap { SecondsArgument(argument: $0) }.map { argument in
            let (seconds, attoseconds) = argument.duration.components
            return jar.now.advanced(byMilliseconds: -(seconds * 1000 + attoseconds / 1_000_000_000_000_000))
        }
        let removed = try jar.with(0) { (stored) throws(StoreError) in
            try stored.remove { cookie in
                !(isSession && cookie.flags.contains(.persistent)) && (since.map { cookie.creation >= $0 } ?? true)
            }
        }
        var lines = ResultLines()
        try lines.add(removed, "removed", asJSON: output.json)
        try lines.flush()
        return ExitStatus.success
    }
}
