import ArgumentParser
import Trawl
import TrawlHTTP
import TrawlSession

/// The way to servers.
struct ProxyArguments: ParsableArguments {
    @Option(
        name: [.customShort("x", allowingJoined: true), .customLong("proxy")], parsing: .unconditional,
        help: ArgumentHelp(
            "Use this proxy: http, https, socks4, socks4a, socks5 or socks5h; an empty one is none.",
            valueName: "[scheme://]host:port"))
    var proxy: String?

    @Option(
        name: .customLong("socks4"), parsing: .unconditional,
        help: ArgumentHelp("Use this SOCKS 4 proxy.", valueName: "host:port"))
    var socks4: String?

    @Option(
        name: .customLong("socks4a"), parsing: .unconditional,
        help: ArgumentHelp("Use this SOCKS 4a proxy, which resolves names.", valueName: "host:port"))
    var socks4a: String?

    @Option(
        name: .customLong("socks5"), parsing: .unconditional,
        help: ArgumentHelp("Use this SOCKS 5 proxy; names are resolved here.", valueName: "host:port"))
    var socks5: String?

    @Option(
        name: .customLong("socks5-hostname"), parsing: .unconditional,
        help: ArgumentHelp("Use this SOCKS 5 proxy, which resolves names.", valueName: "host:port"))
    var socks5Hostname: String?

    @Option(
        name: .customLong("pac"), parsing: .unconditional,
        help: ArgumentHelp("Ask the script at this URL or in this file for proxies.", valueName: "url"),
        completion: .file())
    var script: String?

    @Option(
        name: [.customShort("U", allowingJoined: true), .customLong("proxy-user")], parsing: .unconditional,
        help: ArgumentHelp(
            "User and password for the proxy; without a password it is asked for.", valueName: "user:password"))
    var user: String?

    @Flag(
        name: .customLong("proxy-basic"),
        help: "Tell an HTTP proxy user and password by Basic, and do not wait until it asks.")
    var basic = false

    @Flag(name: .customLong("proxy-digest"), help: "Tell an HTTP proxy who asks by Digest.")
    var digest = false

    @Flag(
        name: .customLong("proxy-ntlm"),
        help: "Tell an HTTP proxy who asks by NTLM; a domain is given as DOMAIN\\user.")
    var ntlm = false

    @Flag(
        name: .customLong("proxy-negotiate"),
        help: "Tell an HTTP proxy who asks by Negotiate (Kerberos); '-U :' is the ticket there is.")
    var negotiate = false

    @Flag(
        name: .customLong("proxy-anyauth"),
        help: "Wait until an HTTP proxy asks, and use the strongest scheme it offers, but not NTLM.")
    var any = false

    @Option(
        name: .customLong("noproxy"), parsing: .unconditional,
        help: ArgumentHelp(
            "Hosts that need no proxy: names, *.names, addresses, networks, <local>, *.", valueName: "list"))
    var exceptions: String?

    @Option(
        name: .customLong("proxy-header"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Send this field line to the proxy alone. As -H. Repeatable.", valueName: "name:value"))
    var headers: [FieldArgument] = []

    @Flag(name: [.customShort("p"), .customLong("proxytunnel")], help: "Tunnel http URLs through an HTTP proxy too.")
    var tunnels = false

    @Option(
        name: .customLong("proxy-cacert"), parsing: .unconditional,
        help: ArgumentHelp("Trust the certificates in this PEM file for an https proxy.", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Flag(name: .customLong("proxy-insecure"), help: "Do not check the certificate of an https proxy.")
    var insecure = false

    func validate() throws {
        if [proxy, socks4, socks4a, socks5, socks5Hostname, script].compactMap({ $0 }).count > 1 {
            throw ValidationError("of --proxy, the --socks options and --pac there may be one")
        }
        try FieldArgument.check(headers, "--proxy-header")
        for case .remove(let name) in headers {
            let shown = FieldSyntax.shown(refused: name.utf8)
            throw ValidationError("--proxy-header '\(shown):': no such line is generated for the proxy")
        }
    }

    /// Fills in what these options say about certificates.
    func apply(to transport: inout RequestOptions.Transport) {
        if insecure { transport.verifiesProxy = false }
        transport.proxyCAFile = caFile
    }

    /// Changes what the environment said.
    func apply(
        to policy: inout ProxyPolicy, ask: (String) throws(CommandError) -> String,
        read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) {
        if let named = try named() {
            let exceptions = policy.exceptions
            policy = named
            // As in curl, no_proxy counts for -x too.
            policy.exceptions = exceptions
        }
        if let exceptions { policy.exceptions = [exceptions] }
        if user == ":" {
            policy.useTicket()
        } else if let user {
            let (name, password) = AuthenticationArguments.userAndPassword(user)
            if let password {
                policy.setUser(name, password: password)
            } else {
                policy.setUser(name, password: try ask(name))
            }
        }
        apply(to: &policy.schemes, &policy.sendsAhead)
        policy.tunnelsAll = tunnels
        guard !headers.isEmpty else { return }
        var carrier = Request("")
        try FieldArgument.apply(headers, to: &carrier, read: read)
        policy.fields = carrier.fields
        if let refused = policy.fields.refused {
            throw CommandError("--proxy-header: the field line \(refused) cannot be sent")
        }
    }

    /// Several of the options add up, as those for servers do. Nothing goes ahead that has to be asked for.
    private func apply(to schemes: inout RequestOptions.Authentication.Schemes, _ sendsAhead: inout Bool) {
        guard any || basic || digest || ntlm || negotiate else { return }
        if !any { schemes = [] }
        if basic { schemes.insert(.basic) }
        if digest { schemes.insert(.digest) }
        if ntlm { schemes.insert(.ntlm) }
        if negotiate || any { schemes.insert(.negotiate) }
        sendsAhead = schemes == .basic
    }

    /// The policy of the proxy that is named; nil when none is.
    private func named() throws(CommandError) -> ProxyPolicy? {
        if let script { return ProxyPolicy(script: try Self.checked(script: script)) }
        if let proxy { return proxy.isEmpty ? .direct : ProxyPolicy(try Self.parse(proxy, "-x")) }
        let choices: [(String?, String, String)] = [
            (socks4, "socks4", "--socks4"), (socks4a, "socks4a", "--socks4a"), (socks5, "socks5", "--socks5"),
            (socks5Hostname, "socks5h", "--socks5-hostname"),
        ]
        for case (let place?, let scheme, let option) in choices {
            return ProxyPolicy(try Self.parse("\(scheme)://\(place)", option))
        }
        return nil
    }

    /// Whoever names a script does not want to go without a proxy: what it cannot be is told before anything is
    /// fetched.
    private static func checked(script: String) throws(CommandError) -> String {
        let isURL = script.contains("://")
        let lower = script.prefix(8).lowercased()
        if script.isEmpty || isURL && !["http://", "https://", "file://"].contains(where: lower.hasPrefix) {
            throw CommandError("--pac: a script is a file, or the file, http or https URL of one")
        }
        if ["http://", "https://"].contains(where: lower.hasPrefix) { return script }
        try NamedFile(
            option: "--pac", path: ScriptPlace.path(of: script), curlStatus: ExitStatus.Curl.readError,
            shown: ScriptPlace.shown(script)
        ).check()
        return script
    }

    private static func parse(_ text: String, _ option: String) throws(CommandError) -> Trawl.Proxy {
        do throws(FetchError) {
            return try Trawl.Proxy(text)
        } catch {
            throw CommandError("\(option): \(error.detail)")
        }
    }
}
