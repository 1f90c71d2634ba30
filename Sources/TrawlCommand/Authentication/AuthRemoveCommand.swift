import ArgumentParser
import Trawl

/// `trawl auth rm URL`
struct AuthRemoveCommand: RunnableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Forget the credentials of an origin or a proxy.")

    @Argument(help: ArgumentHelp("A URL of the origin.", valueName: "url")) var url: String
    @Option(
        name: .customLong("realm"), parsing: .unconditional, help: "Of this realm alone; by default of all realms.")
    var realm: String?
    @Flag(name: .customLong("for-proxy"), help: "The URL is a proxy's, as -x has it.") var isProxy = false
    @OptionGroup var storage: AuthVaultArguments

    func execute() throws(CommandError) -> Int32 {
        let item = try AuthVaultArguments.item(url, realm: realm, isProxy: isProxy)
        let isFound = try storage.command { (vault) throws(SealedFileVault.Fault) in
            try realm == nil ? vault.deleteAll(of: item) : vault.delete(item)
        }
        return isFound ? ExitStatus.success : ExitStatus.someFailed
    }
}
