package import TrawlHTTP

/// Which proxy a hop goes through, as far as its URL says.
///
/// A pure value, asked anew for every hop: a redirect to another host may need another way.
package struct ProxyRules: Sendable, Hashable {
    /// For `http` URLs; nil is none.
    package var http: Proxy?
    /// For `https` URLs; nil is none.
    package var https: Proxy?
    /// Hosts that are reached directly all the same, or without asking the script.
    package var bypass = BypassList()
    /// The URL or path of a script that says it for what none of the two is said for; nil when there is none.
    package var script: String?

    /// Every URL is fetched directly.
    package init() {}

    /// Every URL goes through one proxy.
    package init(_ proxy: Proxy, bypass: BypassList = BypassList()) {
        http = proxy
        https = proxy
        self.bypass = bypass
    }

    /// What the rules say about an origin.
    package enum Choice: Sendable, Hashable {
        /// No proxy.
        case direct
        /// Through this one.
        case through(Proxy)
        /// The script at that place has to be asked.
        case script(String)
    }

    /// Whether nothing goes through a proxy.
    package var isDirect: Bool { http == nil && https == nil && script == nil }

    /// The way to an origin.
    package func choice(for origin: Origin) -> Choice {
        if isDirect || bypass.covers(origin) { return .direct }
        if let proxy = origin.scheme == "https" ? https : http { return .through(proxy) }
        return script.map(Choice.script) ?? .direct
    }
}
