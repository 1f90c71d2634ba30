import ArgumentParser
import TrawlSession

/// `trawl cookies ls [HOST]`
struct CookiesListCommand: CookiesSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List cookies, oldest first.",
        discussion: """
            Of each: the domain (a dot before it: and all hosts below), the path, how long it lasts, whether it is for \
            secure connections (S) and hidden from scripts (H), and what is sent.
            """)

    @Argument(help: ArgumentHelp("Only those of this domain and the hosts below it.", valueName: "domain"))
    var domain: String?

    @OptionGroup var jar: CookieJarArguments
    @OptionGroup var output: ListingArguments

    func execute(on jar: CookiesAtHand) throws(CommandError) -> Int32 {
        var lines = ResultLines()
        var isFirst = !output.json
        let wanted = domain.map { CookieDomain($0) }
        for cookie in try jar.cookies() where wanted?.holds(cookie.domain) ?? true {
            if isFirst { try lines.add(TrawlSession.Cookie.heading) }
            isFirst = false
            if output.json {
                try lines.add { cookie.write(to: &$0) }
            } else {
                try lines.add(cookie.line(at: jar.now))
            }
            if lines.isClosed { break }
        }
        try lines.flush()
        return ExitStatus.success
    }
}
