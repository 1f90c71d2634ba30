import ArgumentParser
import Trawl
import TrawlHTTP
import TrawlJSON

/// `trawl auth ls`
struct AuthListCommand: RunnableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List what is kept, without passwords and tokens.")

    @OptionGroup var output: ListingArguments
    @OptionGroup var storage: AuthVaultArguments

    func execute() throws(CommandError) -> Int32 {
        var lines = ResultLines()
        for entry in try storage.command({ (vault) throws(SealedFileVault.Fault) in try vault.list() }) {
            let item = entry.item
            if output.json {
                try lines.add { writer in
                    writer.key("scheme")
                    writer.string(item.scheme)
                    writer.key("host")
                    writer.string(item.host)
                    writer.key("port")
                    writer.integer(item.port)
                    writer.key("proxy")
                    writer.bool(item.isProxy)
                    if let realm = item.realm {
                        writer.key("realm")
                        writer.string(realm)
                    }
                    if let user = entry.user {
                        writer.key("user")
                        writer.string(user)
                    }
                }
            } else {
                let realm = item.realm.map { " \"\($0.terminalSafe)\"" } ?? ""
                let who = entry.user?.terminalSafe ?? "(token)"
                let what = item.isProxy ? "proxy " : ""
                try lines.add("\(what)\(item.scheme)://\(item.host.terminalSafe):\(item.port)\(realm)  \(who)")
            }
        }
        try lines.flush()
        return ExitStatus.success
    }
}
