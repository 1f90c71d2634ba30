import ArgumentParser
import TrawlProtocol

/// A subcommand of ours.
protocol RunnableCommand: ParsableCommand {
    /// Whether exit statuses are curl's.
    var endsLikeCurl: Bool { get }

    /// Does it all.
    /// - Returns: The exit status.
    func execute() throws(CommandError) -> Int32
}

extension RunnableCommand {
    var endsLikeCurl: Bool { false }
}

/// The root: `trawl URL…` is `trawl get URL…`.
struct TrawlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trawl",
        abstract: "Fetches URLs with a pool of worker processes.",
        discussion: "Without a subcommand, get is meant: trawl URL",
        version: BuildIdentity.name,
        subcommands: [
            GetCommand.self, BatchCommand.self, PipeCommand.self, CacheCommand.self, CookiesCommand.self,
            AuthCommand.self, StatusCommand.self, TopCommand.self,
        ],
        defaultSubcommand: GetCommand.self)

    /// Subcommands whose options are their own, so that `-K` and the tables around it do not concern them.
    static let separate: [any ParsableCommand.Type] = [
        CacheCommand.self, CookiesCommand.self, AuthCommand.self, StatusCommand.self, TopCommand.self,
    ]

    /// Whether a first argument names a subcommand, be it one of the parser's own.
    static func isSubcommand(_ word: String) -> Bool {
        word == "help" || configuration.subcommands.contains { $0.configuration.commandName == word }
    }

    /// Subcommands that are to come: no hosts until then, so that what a command line does stays the same.
    private static let reserved: Set = ["agent", "config", "crawl", "merge", "plan", "report", "resume"]

    /// Whether a first argument names a subcommand that is not there yet.
    static func isReserved(_ word: String) -> Bool { reserved.contains(word) }

    /// The words after `trawl help` for what these arguments are about: a subcommand, and one of its own.
    static func helpPage(for arguments: [String]) -> String {
        let get = GetCommand.configuration.commandName ?? ""
        guard let first = arguments.first, first != "help", isSubcommand(first),
            let subcommand = configuration.subcommands.first(where: { $0.configuration.commandName == first })
        else { return get }
        let own = subcommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        return arguments.dropFirst().first.flatMap { own.contains($0) ? "\(first) \($0)" : nil } ?? first
    }
}
