import ArgumentParser
import TrawlProtocol

/// The root: `trawl URL…` is `trawl get URL…`.
struct TrawlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trawl",
        abstract: "Fetches URLs with a pool of worker processes.",
        discussion: "Without a subcommand, get is meant: trawl URL",
        version: BuildIdentity.text,
        subcommands: [GetCommand.self],
        defaultSubcommand: GetCommand.self)
}
