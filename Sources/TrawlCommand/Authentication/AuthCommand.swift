import ArgumentParser

/// `trawl auth`: credentials that are kept for good.
struct AuthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth",
        abstract: "Keep credentials in a sealed file; list, remove and try them.",
        discussion: """
            The vault is one file, by default trawl/vault in $XDG_CONFIG_HOME or ~/.config, sealed with a passphrase. get, \
            batch and pipe use it with --vault. No secret is ever shown.

            Exit status: 0 done, 1 nothing is kept that was asked for, or the server of a test refused or was not reached, \
            2 wrong usage, 73 the file cannot be written, 77 another passphrase, or no right to read it, 78 no vault.
            """,
        subcommands: [
            AuthSetCommand.self, AuthListCommand.self, AuthRemoveCommand.self, AuthClearCommand.self,
            AuthTestCommand.self,
        ])
}
