import ArgumentParser
import Trawl
import TrawlHTTP
import TrawlSession

/// `trawl auth set URL`
struct AuthSetCommand: RunnableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Keep the credentials of an origin or a proxy.",
        discussion: "User and password are asked for at the terminal; with -u the password alone.")

    @Argument(help: ArgumentHelp("A URL of the origin.", valueName: "url")) var url: String
    @Option(name: .customLong("realm"), parsing: .unconditional, help: "For this realm alone; by default for all.")
    var realm: String?
    @Flag(name: .customLong("for-proxy"), help: "The URL is a proxy's, as -x has it.") var isProxy = false
    @Option(
        name: [.customShort("u", allowingJoined: true), .customLong("user")], parsing: .unconditional,
        help: ArgumentHelp("The user, with the password behind a colon or not.", valueName: "user:password"))
    var user: String?
    @Flag(name: .customLong("bearer"), help: "Keep a bearer token, which is asked for.") var isBearer = false
    @OptionGroup var storage: AuthVaultArguments

    func validate() throws {
        if isBearer, user != nil { throw ValidationError("--bearer and -u exclude each other") }
    }

    func execute() throws(CommandError) -> Int32 {
        let item = try AuthVaultArguments.item(url, realm: realm, isProxy: isProxy)
        let vault = try storage.open(isNew: true)
        let credential: Credential
        if isBearer {
            credential = Credential(bearer: try ask("Token: "), persistence: .permanent)
        } else {
            let user = if let user { user } else { try ask("User: ", isShown: true) }
            credential = try AuthenticationArguments.credential(user) { user throws(CommandError) in
                try ask("Password for \(user.terminalSafe): ")
            }.kept(.permanent)
        }
        try Self.check(credential)
        do throws(SealedFileVault.Fault) {
            try vault.store(credential, for: item)
        } catch {
            throw error.command(try storage.path())
        }
        return ExitStatus.success
    }

    /// What could never be sent is not kept.
    private static func check(_ credential: Credential) throws(CommandError) {
        do throws(CredentialsFault) {
            if credential.isBearer {
                _ = try BearerScheme.fieldValue(Credentials(bearer: credential.secret ?? ""))
            } else if let user = credential.user {
                _ = try BasicScheme.fieldValue(Credentials(user: user, password: credential.secret ?? ""))
            }
        } catch {
            throw CommandError("it could never be sent: \(error.explanation)")
        }
    }

    private func ask(_ question: String, isShown: Bool = false) throws(CommandError) -> String {
        let asker = storage.vault.asker
        guard let answer = asker.read(question, isShown: isShown), !answer.isEmpty else {
            throw CommandError("nothing is given, and \(asker.name)")
        }
        return answer
    }
}
