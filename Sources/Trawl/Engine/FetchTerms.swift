import TrawlHTTP
import TrawlProtocol
import TrawlSession

/// How fetches are made: options and what follows from them, shared by all fetches that have the same.
///
/// Never changed once made, so that a fetch holds a reference and not a copy.
final class FetchTerms: Sendable {
    let options: RequestOptions
    /// What workers are told of the options.
    let profile: TransferProfile
    /// Options looked at for every fetch, out of the large value they are part of.
    let allowsHTTP: Bool
    let allowsHTTPS: Bool
    /// The way to origins; nil is the coordinator's.
    let proxies: ProxyTerms?
    /// What happens to connections. libcurl 7.88 fails the second request on an HTTP/2 connection made by prior
    /// knowledge ("Error in the HTTP2 framing layer"), so such a connection serves one.
    let reusesConnection: Bool
    let keepsConnection: Bool
    /// The limit of the whole fetch in nanoseconds; nil is none.
    let resourceLimit: UInt64?
    /// The limit from its first lease on, in nanoseconds; nil is none.
    let exchangeLimit: UInt64?
    /// How the cache is used; nil when it is not.
    let cache: CacheBinding?
    /// How cookies are used; nil when none are.
    let cookies: CookieBinding?
    /// Who the fetch is made as.
    let authentication: AuthenticationTerms
    /// Whether the network is never used, cache or not.
    let neverLoads: Bool
    private let shelf: CacheShelf
    private let cookieSettings: CookieSettings
    private let askable: AuthenticationTerms.Askable

    init(
        _ options: RequestOptions, _ shelf: CacheShelf, _ cookieSettings: CookieSettings,
        _ askable: AuthenticationTerms.Askable, netrc: Netrc? = nil
    ) {
        self.options = options
        self.shelf = shelf
        self.cookieSettings = cookieSettings
        cookies = CookieBinding(options, cookieSettings)
        self.askable = askable
        authentication = AuthenticationTerms(options.authentication, askable, netrc: netrc)
        cache = shelf.binding(for: options)
        let policy = options.caching.policy
        neverLoads = (policy.isEmpty ? shelf.settings.policy : policy).contains(.doNotLoad)
        var profile = options.profile
        profile.cache = cache?.terms
        profile.state = cookies?.terms
        self.profile = profile
        allowsHTTP = options.transport.allowsHTTP
        allowsHTTPS = options.transport.allowsHTTPS
        proxies = options.proxy.map(ProxyTerms.init)
        let isSingleUse = options.transport.version == .http2PriorKnowledge
        reusesConnection = options.reusesConnection && !isSingleUse
        keepsConnection = options.keepsConnection && !isSingleUse
        resourceLimit = Self.limit(options.timeLimits.resource)
        exchangeLimit = Self.limit(options.timeLimits.exchange)
    }

    /// The shorter of both limits, for who does not tell waiting from the rest.
    var wholeLimit: Duration? {
        let limits = [resourceLimit, exchangeLimit].compactMap { $0 }
        return limits.min().map { .nanoseconds(Int64(clamping: $0)) }
    }

    private static func limit(_ limit: Duration) -> UInt64? {
        limit > .zero ? UInt64(limit.clampedNanoseconds) : nil
    }

    /// The terms of other options, with the same caches.
    func changed(to options: RequestOptions) -> FetchTerms {
        FetchTerms(options, shelf, cookieSettings, askable, netrc: authentication.netrc)
    }
}
