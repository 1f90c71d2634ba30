import Glibc
import TrawlHTTP
package import TrawlSession

/// Which proxy is used for which URL.
///
/// Settled anew for every hop: a redirect may lead to where another proxy, or none, is right.
public struct ProxyPolicy: Sendable, Hashable {
    /// For `http` URLs; nil is none.
    public var http: Proxy?
    /// For `https` URLs; nil is none.
    public var https: Proxy?
    /// Hosts that are reached directly: names with all that is beneath them (`example.org`), only what is beneath
    /// (`*.example.org`), addresses, networks (`192.0.2.0/24`), each with a port or not; `<local>` for names without a
    /// dot, and `*` for all.
    public var exceptions: [String] = []
    /// A script that names the proxies of URLs for which there is none above: the URL of a proxy auto-configuration
    /// file (`http`, `https` or `file`), or the path of one. A script that cannot be had or says nothing of use means
    /// no proxy. User and password in a URL are for the script's server; they are neither shown nor encoded.
    public var script: String?
    /// User and password for proxies that come without. Not encoded.
    package var credentials: Credentials?
    /// The schemes by which an HTTP proxy may be told who asks. Default Basic and Digest; Bearer is refused.
    public var schemes: RequestOptions.Authentication.Schemes = [.basic, .digest]
    /// Whether user and password that were given with the proxy go out by Basic before it asks for them, as long as
    /// nothing stronger is known to work there. Default true. A proxy that a script names has to ask for them.
    public var sendsAhead = true
    /// Whether `http` URLs go through a tunnel of an HTTP proxy too. Default false.
    public var tunnelsAll = false
    /// Field lines for HTTP proxies alone, never for servers: with CONNECT, or with a request that is no tunnel's. Not
    /// encoded.
    public var fields = Fields()

    /// Every URL is fetched directly.
    public init() {}

    /// Every URL is fetched directly.
    public static let direct = ProxyPolicy()

    /// Every URL but those of the exceptions goes through one proxy.
    public init(_ proxy: Proxy, exceptions: [String] = []) {
        http = proxy
        https = proxy
        self.exceptions = exceptions
    }

    /// A script says it.
    public init(script: String) {
        self.script = script
    }

    /// What it says of ways, in the form hops use.
    var rules: ProxyRules {
        var rules = ProxyRules()
        rules.http = http?.value
        rules.https = https?.value
        rules.bypass = BypassList(exceptions.joined(separator: ","))
        rules.script = script
        return rules
    }

    /// User and password for proxies that come without.
    public mutating func setUser(_ user: String, password: String) {
        credentials = Credentials(user: user, password: password)
    }

    /// The Kerberos ticket of the workers' user answers proxies that want Negotiate, which ``schemes`` has to allow.
    public mutating func useTicket() {
        credentials = Credentials(.ticket)
    }

    /// What the environment says: `http_proxy`, `https_proxy` or `HTTPS_PROXY`, `all_proxy` or `ALL_PROXY`, `no_proxy`
    /// or `NO_PROXY`, and `auto_proxy` for a script. `HTTP_PROXY` is not read, as anybody can set it who sends a CGI
    /// program a request.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` that names a variable that is no proxy.
    public static func fromEnvironment() throws(FetchError) -> ProxyPolicy {
        try ProxyPolicy { name in getenv(name).map { String(cString: $0) } }
    }

    init(environment variable: (String) -> String?) throws(FetchError) {
        do throws(ProxyRules.EnvironmentFault) {
            let rules = try ProxyRules(environment: variable)
            http = rules.http.map(Proxy.init)
            https = rules.https.map(Proxy.init)
            script = rules.script
        } catch {
            throw FetchError(.badRequest, "\(error.variable): \(error.fault.explanation)")
        }
        let list = ["no_proxy", "NO_PROXY"].compactMap(variable).first { !$0.isEmpty }
        if let list { exceptions = [list] }
    }
}

extension ProxyPolicy: Codable {
    private enum Key: String, CodingKey {
        case http, https, exceptions, script, schemes, sendsAhead, tunnelsAll
    }

    /// Reads what was written down; the rest is as by default.
    public init(from decoder: any Decoder) throws {
        self.init()
        let stored = try decoder.container(keyedBy: Key.self)
        try stored.read(.http, into: &http)
        try stored.read(.https, into: &https)
        try stored.read(.exceptions, into: &exceptions)
        try stored.read(.script, into: &script)
        try stored.read(.schemes, into: &schemes)
        try stored.read(.sendsAhead, into: &sendsAhead)
        try stored.read(.tunnelsAll, into: &tunnelsAll)
    }

    /// Writes all but what may be secret: users, passwords and field lines.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(http, forKey: .http)
        try container.encodeIfPresent(https, forKey: .https)
        try container.encode(exceptions, forKey: .exceptions)
        try container.encodeIfPresent(script.map(ScriptPlace.withoutUser), forKey: .script)
        try container.encode(schemes, forKey: .schemes)
        try container.encode(sendsAhead, forKey: .sendsAhead)
        try container.encode(tunnelsAll, forKey: .tunnelsAll)
    }
}

extension ProxyPolicy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The proxies' URLs, without what is secret.
    public var description: String {
        let ways = [
            http.map { "http by \($0)" }, https.map { "https by \($0)" }, script.map { _ in "others by script" },
        ]
        let text = ways.compactMap { $0 }.joined(separator: ", ")
        return text.isEmpty ? "direct" : text
    }
    /// The proxies' URLs, without what is secret.
    public var debugDescription: String { description }
    /// A mirror that shows nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["ways": description]) }
}
