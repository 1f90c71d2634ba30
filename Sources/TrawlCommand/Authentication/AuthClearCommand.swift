import ArgumentParser
import Trawl

/// `trawl auth clear`
struct AuthClearCommand: RunnableCommand {
    static let configuration = CommandConfiguration(commandName: "clear", abstract: "Forget all credentials.")

    @OptionGroup var storage: AuthVaultArguments

    func execute() throws(CommandError) -> Int32 {
        try storage.command { (vault) throws(SealedFileVault.Fault) in
            for entry in try vault.list() { try vault.delete(entry.item) }
        }
        return ExitStatus.success
    }
}
