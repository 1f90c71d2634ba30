import TrawlHTTP
import TrawlSession

/// A proxy policy in the form hops use, shared by the fetches that have it. Never changed once made.
final class ProxyTerms: Sendable {
    let rules: ProxyRules
    /// Whether nothing goes through a proxy: asked for every hop.
    let isDirect: Bool
    /// User and password for proxies that come without.
    let credentials: Credentials?
    /// The schemes by which HTTP proxies may be told who asks.
    let schemes: SchemeSet
    /// Whether user and password go out by Basic before they are asked for.
    let sendsAhead: Bool
    /// Whether HTTP proxies are asked for tunnels to `http` URLs too.
    let tunnelsAll: Bool
    /// Field lines for HTTP proxies alone.
    let fields: FieldLines

    init(_ policy: ProxyPolicy) {
        rules = policy.rules
        isDirect = rules.isDirect
        credentials = policy.credentials
        schemes = SchemeSet(rawValue: policy.schemes.rawValue)
        sendsAhead = policy.sendsAhead
        tunnelsAll = policy.tunnelsAll
        fields = policy.fields.lines
    }

    /// What is wrong with a policy, or nil.
    static func problem(_ policy: ProxyPolicy) -> String? {
        if let refused = policy.fields.refused { return "the field line \(refused) for the proxy cannot be sent" }
        if policy.schemes.contains(.bearer) { return "no proxy is told who asks by Bearer" }
        for name in ["Content-Length", "Transfer-Encoding", "Connection"] where policy.fields.lines.contains(name) {
            return "the field \(name) belongs to the transfer"
        }
        return nil
    }
}

/// How a hop gets to its origin.
struct HopWay {
    /// The ways to try, in their order; nil in it is no proxy. At least one.
    let choices: [TrawlSession.Proxy?]
    /// The one that is tried.
    private(set) var index = 0
    /// What the proxies have in common.
    let terms: ProxyTerms
    /// Whether a script named them: they are told a password when they ask for it, and not before.
    let isByScript: Bool

    init(_ choices: [TrawlSession.Proxy?], _ terms: ProxyTerms, isByScript: Bool = false) {
        self.choices = choices
        self.terms = terms
        self.isByScript = isByScript
    }

    /// Whether it is none that is tried.
    var isDirect: Bool { if case .none = choices[index] { true } else { false } }

    /// The proxy that is tried, with what it is told about us; nil is none.
    var proxy: TrawlSession.Proxy? {
        guard let proxy = choices[index] else { return nil }
        return proxy.credentials == nil ? proxy.with(terms.credentials) : proxy
    }

    /// Goes on to the next way.
    /// - Returns: False when there is none.
    mutating func advance() -> Bool {
        guard index + 1 < choices.count else { return false }
        index += 1
        return true
    }
}
