import ArgumentParser
import TrawlHTTP
import TrawlSession
import TrawlStore

/// `trawl cookies rm DOMAIN [NAME…]`
struct CookiesRemoveCommand: CookiesSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove cookies of a domain, all or those of some names.",
        discussion: "A domain without such cookies is no failure.")

    @Argument(help: ArgumentHelp("Whose; of a URL the host counts.", valueName: "domain"))
    var domain: String

    @Argument(help: ArgumentHelp("Which; all when none is named.", valueName: "name"))
    var names: [String] = []

    @Option(
        name: .customLong("path"), parsing: .unconditional,
        help: ArgumentHelp("Only those for this path.", valueName: "path"))
    var path: String?

    @Flag(name: .customLong("subdomains"), help: "Those of hosts below the domain too.")
    var includesSubdomains = false

    @OptionGroup var jar: CookieJarArguments
    @OptionGroup var output: ListingArguments

    func execute(on jar: CookiesAtHand) throws(CommandError) -> Int32 {
        let domain = CookieDomain(domain)
        let names = names.map { Array($0.utf8) }
        let removed = try jar.with(0) { (stored) throws(StoreError) in
            try stored.remove { cookie in
                let own = FieldLines.text(cookie.domain)
                return (own == domain.text || includesSubdomains && domain.holds(own))
                    && (names.isEmpty || names.contains { cookie.name.elementsEqual($0) })
                    && (path.map { cookie.path.elementsEqual($0.utf8) } ?? true)
            }
        }
        var lines = ResultLines()
        try lines.add(removed, "removed", asJSON: output.json)
        try lines.flush()
        return ExitStatus.success
    }
}
