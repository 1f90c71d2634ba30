import TrawlCache
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
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
    /// Whether a program is asked for the client certificate that https hops have none of.
    let asksForIdentity: Bool
    /// Whether a server's certificate need not be right: not all of it is checked, or somebody is asked about it.
    let isLenient: Bool
    /// The way to origins; nil is the coordinator's.
    let proxies: ProxyTerms?
    /// Where connections go in place of where URLs say; nil where none goes elsewhere.
    let routes: ConnectRoutes?
    /// What happens to connections. libcurl 7.88 fails the second request on an HTTP/2 connection made by prior
    /// knowledge ("Error in the HTTP2 framing layer"), so such a connection serves one.
    let reusesConnection: Bool
    let keepsConnection: Bool
    /// The limit of the whole fetch in nanoseconds; nil is none.
    let resourceLimit: UInt64?
    /// The limit from its first lease on, in nanoseconds; nil is none.
    let exchangeLimit: UInt64?
    /// When a failed attempt is made again; nil is never.
    let retry: RetryPolicy?
    /// Whether it waits for the network when there is none, and how long; nil is no limit of its own.
    let waitsForNetwork: Bool
    let networkLimit: Duration?
    /// How the cache is used; nil when it is not.
    let cache: CacheBinding?
    /// How cookies are used; nil when none are.
    let cookies: CookieBinding?
    /// Who the fetch is made as.
    let authentication: AuthenticationTerms
    /// Whether the network is never used, cache or not.
    let neverLoads: Bool
    /// What a request tells the caches on its way.
    let reload: TrawlCache.CachePolicy.Reload
    /// Which form of its base these are, for hops with less or other rights; the first form is the options as given.
    let form: Form
    private let encodedProfile = Guarded<[UInt8]?>(nil)
    private let ownBase: FetchTerms?
    private let shelf: CacheShelf
    private let cookieSettings: CookieSettings
    private let askable: AuthenticationTerms.Askable
    private let isBoundToHosts: Bool

    /// What of the options holds for a hop: some of them are bound to hosts.
    struct Form: Hashable {
        /// Which of the client certificates by host.
        var identity: String?
        /// The one that a program chose for the hop's origin, and its paths as far as `==` does not tell them apart.
        var chosen: ClientIdentity?
        var chosenTexts = NonASCIITexts()
        /// Whether a redirect has led to another origin, or another host, by now.
        var hasLeftOrigin = false
        var hasLeftHost = false
        /// Whether the host takes secure transport only: its certificate has to be right (RFC 6797 §8.4).
        var isStrict = false
    }

    convenience init(
        _ options: RequestOptions, _ shelf: CacheShelf, _ cookieSettings: CookieSettings,
        _ askable: AuthenticationTerms.Askable, netrc: Netrc? = nil
    ) {
        self.init(options, shelf, cookieSettings, askable, netrc, base: nil, Form())
    }

    private init(
        _ options: RequestOptions, _ shelf: CacheShelf, _ cookieSettings: CookieSettings,
        _ askable: AuthenticationTerms.Askable, _ netrc: Netrc?, base: FetchTerms?, _ form: Form
    ) {
        ownBase = base
        self.form = form
        isBoundToHosts = options.tls.isBoundToHosts
        self.options = options
        self.shelf = shelf
        self.cookieSettings = cookieSettings
        proxies = options.proxy.map(ProxyTerms.init)
        cookies = CookieBinding(options, cookieSettings, proxies: proxies?.rules)
        self.askable = askable
        authentication = AuthenticationTerms(options.authentication, askable, netrc: netrc)
        cache = shelf.binding(for: options)
        let policy = options.caching.policy.isEmpty ? shelf.settings.policy : options.caching.policy
        neverLoads = policy.contains(.doNotLoad)
        reload = policy.reload
        var profile = options.profile
        profile.cache = cache?.terms
        profile.state = cookies?.terms
        self.profile = profile
        allowsHTTP = options.transport.allowsHTTP
        allowsHTTPS = options.transport.allowsHTTPS
        asksForIdentity = options.tls.asksForIdentity && options.tls.identity == nil
        isLenient = options.tls.verification != .full || options.tls.question != .never
        let transport = options.transport
        routes =
            transport.resolve.isEmpty && transport.connectTo.isEmpty
            ? nil : ConnectRoutes(resolve: transport.resolve, connectTo: transport.connectTo)
        let isSingleUse = options.transport.version == .http2PriorKnowledge
        reusesConnection = options.reusesConnection && !isSingleUse
        keepsConnection = options.keepsConnection && !isSingleUse
        resourceLimit = Self.limit(options.timeLimits.resource)
        exchangeLimit = Self.limit(options.timeLimits.exchange)
        retry = options.retry.policy
        waitsForNetwork = options.waitsForConnectivity
        networkLimit = options.timeLimits.connectivity > .zero ? options.timeLimits.connectivity : nil
    }

    /// Whether requests go to an origin without a proxy. What a script will say is not known yet, and taken for one.
    func isDirect(to origin: Origin) -> Bool {
        (proxies?.rules ?? cookieSettings.proxies).choice(for: origin) == .direct
    }

    private static func limit(_ limit: Duration) -> UInt64? {
        limit > .zero ? UInt64(limit.clampedNanoseconds) : nil
    }

    /// The terms of other options, with the same caches.
    func changed(to options: RequestOptions) -> FetchTerms {
        FetchTerms(options, shelf, cookieSettings, askable, netrc: authentication.netrc)
    }

    /// The profile as workers are told it; made once, when it is first asked for.
    var profileBytes: [UInt8] {
        encodedProfile.withLock { known in
            let bytes = known ?? profile.bytes
            known = bytes
            return bytes
        }
    }

    /// Whether workers are told the same, byte for byte, and the way to servers is the same.
    func isAlike(_ other: FetchTerms) -> Bool {
        let (proxy, otherProxy) = (options.proxy, other.options.proxy)
        return proxy == otherProxy && NonASCIITexts(proxy) == NonASCIITexts(otherProxy)
            && profile == other.profile && profileBytes == other.profileBytes
    }

    /// The terms as they were given.
    var base: FetchTerms { ownBase ?? self }

    /// What of them holds for a fetch's first hop; nil when it is what they are.
    func formForFirstHop(to target: TargetURI) -> Form? {
        guard isBoundToHosts else { return nil }
        return Form(identity: base.options.tls.identityKey(for: target))
    }

    /// What of them holds for the hop that a redirect leads to; nil when it is what they are. What was left behind does
    /// not come back.
    func formForNextHop(to target: TargetURI, from here: TargetURI) -> Form? {
        guard base.isBoundToHosts else { return nil }
        return Form(
            identity: base.options.tls.identityKey(for: target),
            hasLeftOrigin: form.hasLeftOrigin || target.origin != here.origin,
            hasLeftHost: form.hasLeftHost || target.host != here.host)
    }

    /// The same for a hop to a host that takes secure transport only.
    var strictForm: Form {
        var strict = form
        strict.isStrict = true
        return strict
    }

    /// The same with a client certificate for the origin of this hop alone: what follows it begins without.
    func form(identifiedBy identity: ClientIdentity) -> Form {
        var identified = form
        identified.chosen = identity
        identified.chosenTexts = NonASCIITexts(identity)
        return identified
    }

    /// Makes another form of the same base.
    func remade(in form: Form) -> FetchTerms {
        let base = base
        if form == base.form { return base }
        var options = base.options
        if form.hasLeftOrigin { options.tls.identity = nil }
        if let key = form.identity { options.tls.identity = options.tls.identities[key] }
        if let chosen = form.chosen { options.tls.identity = chosen }
        if form.hasLeftHost || form.isStrict { options.tls.verification = .full }
        if form.isStrict { options.tls.question = .never }
        return FetchTerms(options, shelf, cookieSettings, askable, authentication.netrc, base: base, form)
    }
}
