import ArgumentParser
import Trawl
import TrawlHTTP
import TrawlSession

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
        func name(_ challenge: Challenge) -> String { "\(challenge.name.terminalSafe)\(realm(challenge.realmText))" }
        guard let side = AuthenticationSide(status: UInt16(clamping: response.status)) else { return "nobody asked" }
        let challenges = ChallengeList(response.fields.lines, from: side).challenges
        guard let first = challenges.first else { return "nobody asked" }
        // Which proxy asked is not known here.
        guard side == .server else { return name(first) }
        let kept = (try? vault.list()) ?? []
        let answered = challenges.first { challenge in kept.contains { answers($0, challenge, at: response.url) } }
        return answered.map { name($0) + ": refused" } ?? name(first) + ": nothing is kept for it"
    }

    /// Whether what is kept is of a server's origin and realm, and of the kind that a challenge asks for: a token, or a
    /// user.
    private static func answers(
        _ entry: (item: VaultItem, user: String?), _ challenge: Challenge, at url: String
    ) -> Bool {
        guard let item = try? AuthVaultArguments.item(url, realm: challenge.realmText, isProxy: false) else {
            return false
        }
        return !entry.item.isProxy && entry.item.scheme == item.scheme && entry.item.host == item.host
            && entry.item.port == item.port && (entry.item.realm == nil || entry.item.realm == item.realm)
            && (entry.user == nil) == (challenge.scheme == .bearer)
    }
}
