import ArgumentParser
import Glibc
import Trawl
import TrawlPlatform

/// Who requests are made as.
struct AuthenticationArguments: ParsableArguments {
    @Option(
        name: [.customShort("u", allowingJoined: true), .customLong("user")], parsing: .unconditional,
        help: ArgumentHelp(
            "Answer servers that ask with this user and password; without a password it is asked for.",
            valueName: "user:password"))
    var user: String?

    @Option(
        name: .customLong("oauth2-bearer"), parsing: .unconditional,
        help: ArgumentHelp("Send this bearer token.", valueName: "token"))
    var bearer: String?

    @Flag(name: .customLong("basic"), help: "Use Basic alone, and do not wait until it is asked for.")
    var basic = false

    @Flag(name: .customLong("digest"), help: "Use Digest alone.")
    var digest = false

    @Flag(name: .customLong("ntlm"), help: "Use NTLM; a domain is given as DOMAIN\\user.")
    var ntlm = false

    @Flag(name: .customLong("negotiate"), help: "Use Negotiate (Kerberos); '-u :' is the ticket there is.")
    var negotiate = false

    @Flag(name: .customLong("anyauth"), help: "Use the strongest scheme that is offered, but not NTLM; the default.")
    var any = false

    @Flag(name: [.customShort("n"), .customLong("netrc")], help: "Look for user and password in ~/.netrc.")
    var netrc = false

    @Flag(name: .customLong("netrc-optional"), help: "As --netrc, but the file need not be there.")
    var netrcOptional = false

    @Option(
        name: .customLong("netrc-file"), parsing: .unconditional,
        help: ArgumentHelp("As --netrc, with this file.", valueName: "file"), completion: .file())
    var netrcFile: String?

    /// The option by which a netrc file was asked for.
    var netrcOption: String {
        if netrcFile != nil { return "--netrc-file" }
        return netrcOptional ? "--netrc-optional" : "--netrc"
    }

    @Flag(
        name: .customLong("ask"),
        help: "Ask at the terminal when a server wants credentials and there are none; as it is done for proxies.")
    var asks = false

    @OptionGroup var storage: VaultArguments

    @Option(
        name: .customLong("credential-helper"), parsing: .unconditional,
        help: ArgumentHelp(
            "Use credentials of this program, which speaks git's credential format.", valueName: "command"))
    var helper: String?

    func validate() throws {
        if user != nil, bearer != nil { throw ValidationError("--user and --oauth2-bearer exclude each other") }
        if storage.file != nil, helper != nil {
            throw ValidationError("--vault and --credential-helper exclude each other")
        }
    }

    /// The schemes asked for; several options add up.
    private var schemes: RequestOptions.Authentication.Schemes {
        var schemes: RequestOptions.Authentication.Schemes = any ? .any : []
        if basic { schemes.insert(.basic) }
        if digest { schemes.insert(.digest) }
        if ntlm { schemes.insert(.ntlm) }
        if negotiate { schemes.insert(.negotiate) }
        if schemes.isEmpty { return .any }
        if bearer != nil { schemes.insert(.bearer) }
        return schemes
    }

    /// Fills in what these options say.
    ///
    /// - Parameters:
    ///   - home: The user's home directory.
    ///   - ask: Asks for the password of a user; nil when nobody can be asked.
    func apply(
        to options: inout RequestOptions.Authentication, home: String?, ask: (String) throws(CommandError) -> String
    ) throws(CommandError) {
        // Whoever says a password for an http URL, or in one, means it.
        options.allowsClearText = true
        options.whenRefused = .delivers
        options.schemes = schemes
        options.usesVault = storage.file != nil || helper != nil
        if let bearer { options.credential = Credential(bearer: bearer) }
        if let user { options.credential = try Self.credential(user, ask) }
        if let netrcFile {
            options.netrc = netrcOptional ? .optional(netrcFile) : .file(netrcFile)
        } else if netrc || netrcOptional {
            guard let home, !home.isEmpty else { throw CommandError("--netrc: there is no home directory") }
            options.netrc = netrcOptional ? .optional(home + "/.netrc") : .file(home + "/.netrc")
        }
    }

    /// Throws when questions could not be told from the list, both being answered at the terminal.
    ///
    /// - Parameter list: The file that lines are read from; `-` is standard input.
    func check(list: String?) throws(CommandError) {
        guard asks, storage.askProgram == nil, list == "-", Terminal.isTerminal(STDIN_FILENO) else { return }
        throw CommandError("--ask: the list is typed at the terminal, where the answers would be")
    }

    /// Whether somebody is asked for servers, and not for proxies alone.
    var asksForServers: Bool { asks || storage.askProgram != nil }

    /// Fills in whom a coordinator asks.
    func apply(to configuration: inout Configuration) throws(CommandError) {
        configuration.vault = try vault()
        // Whoever uses a proxy has no other way out, and is asked unasked where there is a terminal (ASI-PRX-02).
        let asker = storage.asker
        if asksForServers || asker.isThere {
            configuration.prompt = PersonPrompt(asker, asksForServers: asksForServers)
        }
    }

    /// The vault named; nil for none.
    private func vault() throws(CommandError) -> (any CredentialVault)? {
        if let helper {
            let words = helper.split(separator: " ").map(String.init)
            if words.isEmpty { throw CommandError("--credential-helper: there is no command") }
            return HelperVault(command: words)
        }
        guard let file = storage.file else { return nil }
        return try storage.sealed(file)
    }

    /// A backslash or slash as in curl stays part of the name.
    static func credential(
        _ text: String, _ ask: (String) throws(CommandError) -> String
    ) throws(CommandError) -> Credential {
        if text == ":" { return .ticket }
        let (user, password) = userAndPassword(text)
        if let password { return Credential(user: user, password: password) }
        return Credential(user: user, password: try ask(user))
    }

    /// The user ends at the first colon (RFC 7617 §2), whatever Character that is a part of; nil when there is none.
    static func userAndPassword(_ text: String) -> (user: String, password: String?) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return (text, nil) }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }
}
