import ArgumentParser
import Glibc
import Trawl
import TrawlHTTP
import TrawlJSON
import TrawlPlatform
import TrawlSession

/// `trawl auth`: credentials that are kept for good.
struct AuthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth",
        abstract: "Keep credentials in a sealed file; list, remove and try them.",
        discussion: """
            The vault is one file, by default trawl/vault in $XDG_CONFIG_HOME or ~/.config, sealed with a passphrase. get, \
            batch and pipe use it with --vault. No secret is ever shown.

            Exit status: 0 done, 1 nothing is kept that was asked for, or the server refused, 2 wrong usage, 73 the file \
            cannot be written, 77 another passphrase, or no right to read it, 78 no vault.
            """,
        subcommands: [
            AuthSetCommand.self, AuthListCommand.self, AuthRemoveCommand.self, AuthClearCommand.self,
            AuthTestCommand.self,
        ])
}

/// What all subcommands of `auth` know.
struct AuthVaultArguments: ParsableArguments {
    @OptionGroup var vault: VaultArguments

    /// The path of the vault.
    func path() throws(CommandError) -> String {
        if let file = vault.file { return file }
        let variable = { (name: String) in getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }
        if let directory = variable("XDG_CONFIG_HOME") { return directory + "/trawl/vault" }
        guard let home = variable("HOME") else {
            throw CommandError("--vault is missing, and there is no home directory")
        }
        return home + "/.config/trawl/vault"
    }

    /// The vault, opened.
    func open(isNew: Bool = false) throws(CommandError) -> SealedFileVault {
        if vault.helper != nil { throw CommandError("--credential-helper: the helper has commands of its own") }
        let path = try path()
        if isNew, vault.file == nil {
            do throws(SystemError) {
                try LocalPath.makeDirectories(LocalPath.parent(path))
            } catch {
                throw CommandError(file: path, error.errno, status: ExitStatus.cannotCreate)
            }
        }
        return try vault.sealed(path, isNew: isNew)
    }

    /// Does something with the vault.
    func command<Value>(
        _ body: (SealedFileVault) throws(SealedFileVault.Fault) -> Value
    ) throws(CommandError) -> Value {
        let vault = try open()
        do throws(SealedFileVault.Fault) {
            return try body(vault)
        } catch {
            throw error.command(try path())
        }
    }

    /// What the credentials of a URL's server, or of a proxy, are kept under.
    static func item(_ url: String, realm: String?, isProxy: Bool) throws(CommandError) -> VaultItem {
        if isProxy { return try proxy(url, realm: realm) }
        let origin = try WebURL.target(url).origin
        return VaultItem(scheme: origin.scheme, host: origin.host, port: Int(origin.port), realm: realm)
    }

    private static func proxy(_ url: String, realm: String?) throws(CommandError) -> VaultItem {
        let proxy: Trawl.Proxy
        do throws(FetchError) {
            proxy = try Trawl.Proxy(url)
        } catch {
            throw CommandError("--for-proxy: \(error.detail)")
        }
        guard proxy.kind == .http || proxy.kind == .https else {
            throw CommandError("--for-proxy: a SOCKS proxy asks nobody")
        }
        return VaultItem(
            scheme: proxy.kind.rawValue, host: proxy.host, port: Int(proxy.port), realm: realm, isProxy: true)
    }
}

/// `trawl auth ls`
struct AuthListCommand: RunnableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List what is kept, without passwords and tokens.")

    @OptionGroup var output: CacheOutputArguments
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

/// `trawl auth test URL`
struct AuthTestCommand: RunnableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Fetch a URL with what is kept, and say whether the server takes it.",
        discussion: """
            Nothing is written but the answer's status, the scheme and the realm, and behind a challenge whether credentials \
            were refused or none are kept.
            """)

    @Argument(help: ArgumentHelp("What to fetch.", valueName: "url")) var url: String
    @OptionGroup var storage: AuthVaultArguments
    @OptionGroup(title: "Transfer options") var routes: RouteArguments
    @OptionGroup(title: "Proxy options") var proxy: ProxyArguments
    @OptionGroup(title: "TLS options") var tls: TLSArguments

    func execute() throws(CommandError) -> Int32 {
        var configuration: Configuration
        do throws(FetchError) {
            configuration = try Configuration.fromEnvironment()
        } catch {
            throw CommandError(error.detail, status: ExitStatus.configuration)
        }
        configuration.workers = 1
        configuration.store = .none
        if configuration.workerExecutable == nil {
            configuration.workerExecutable = OwnExecutable.path()
            configuration.workerIsOwnProgram = true
            configuration.workerArguments = ["worker"]
        }
        try RunSetup.checkFiles(tls, proxy)
        try proxy.apply(to: &configuration.proxy) { user throws(CommandError) in
            try RunSetup.password(of: user, "--proxy-user", " at the proxy", by: storage.vault.asker)
        } read: { path throws(CommandError) in
            try StandardStreams.readAll(path)
        }
        tls.apply(to: &configuration)
        let vault = try storage.open()
        configuration.vault = vault
        var request = Request(URLText.completed(url))
        tls.apply(to: &request.options.tls)
        proxy.apply(to: &request.options.transport)
        routes.apply(to: &request.options.transport)
        request.options.authentication.usesVault = true
        request.options.authentication.allowsClearText = true
        request.options.authentication.whenRefused = .delivers
        let coordinator = try Coordinator.started(configuration, Console(isSilent: false))
        defer { coordinator.shutdownBlocking(grace: .zero) }
        do throws(FetchError) {
            let response = try coordinator.sendBlocking(request, into: .discard)
            var lines = ResultLines()
            try? lines.add("\(response.status) \(Self.explanation(of: response, with: vault))")
            try? lines.flush()
            return response.status == 401 || response.status == 407 ? ExitStatus.someFailed : ExitStatus.success
        } catch {
            throw CommandError("\(FailureText.url(url)): \(FailureText.of(error))", status: ExitStatus.someFailed)
        }
    }

    /// What is said of a response beside its status.
    private static func explanation(of response: Response, with vault: SealedFileVault) -> String {
        func realm(_ text: String?) -> String { text.map { " \"\($0.terminalSafe)\"" } ?? "" }
        if let report = response.authentication { return "\(report.scheme)\(realm(report.realm))" }
        let side = AuthenticationSide(status: UInt16(clamping: response.status))
        guard let side, let challenge = ChallengeList(response.fields.lines, from: side).challenges.first else {
            return "nobody asked"
        }
        let what = "\(challenge.name.terminalSafe)\(realm(challenge.realmText))"
        // Which proxy asked is not known here.
        guard side == .server,
            let item = try? AuthVaultArguments.item(response.url, realm: challenge.realmText, isProxy: false)
        else { return what }
        let isKept = ((try? vault.list()) ?? []).contains { entry in
            !entry.item.isProxy && entry.item.scheme == item.scheme && entry.item.host == item.host
                && entry.item.port == item.port
                && (entry.item.realm == nil || entry.item.realm == item.realm)
        }
        return what + (isKept ? ": refused" : ": nothing is kept for it")
    }
}
