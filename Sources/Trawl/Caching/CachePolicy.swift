/// Whether a stored response may answer, and whether the server is asked: ASIHTTPRequest's policies, which combine,
/// and names for those of the URL Loading System.
///
/// The empty set is the coordinator's ``Configuration/Cache/policy``, and where that is empty too, RFC 9111 as it
/// stands: what is fresh answers, what is stale is validated.
public struct CachePolicy: OptionSet, Sendable, Hashable, Codable {
    /// The bits, with the values they had in ASIHTTPRequest.
    public let rawValue: UInt16

    /// The policy of these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// What is stored does not answer, and no condition is added to the request. The response may be stored; what is
    /// answered to HEAD updates or removes what is stored (RFC 9111 §4.3.5).
    public static let doNotRead = CachePolicy(rawValue: 1)
    /// Nothing is stored, and nothing that is stored is changed.
    public static let doNotWrite = CachePolicy(rawValue: 2)
    /// What is fresh answers; the server is asked about what is stale. This is what happens anyway.
    public static let askServerIfStale = CachePolicy(rawValue: 4)
    /// The server is asked about what is fresh too. Wins over ``askServerIfStale``.
    public static let askServerIfModified = CachePolicy(rawValue: 8)
    /// Any stored response answers, however old; the server is asked only when there is none.
    public static let onlyLoadIfNotCached = CachePolicy(rawValue: 16)
    /// The network is never used. Without a stored response there is no answer: see
    /// ``RequestOptions/Caching/failsWhenNotCached``.
    public static let doNotLoad = CachePolicy(rawValue: 32)
    /// When the load fails, a stored response answers if there is one, and ``Response/source`` is
    /// ``Response/Source/stale``.
    ///
    /// A load fails when the server cannot be reached or does not answer to the end: not by a cancel, a certificate
    /// that is not trusted, a redirect that is not followed, credentials, a limit of size or a broken coding. A
    /// response that says `must-revalidate` or `no-cache` does not answer, unless
    /// ``RequestOptions/Caching/forcesFallback`` says so. Nothing does once a head was told, as it is by
    /// ``FetchEvent/head(_:)``, or in a further attempt of ``RequestOptions/retry``.
    public static let fallBackToCacheIfLoadFails = CachePolicy(rawValue: 64)
    /// Caches on the way are told to ask the origin too, as far as the request has no `Cache-Control` and `Pragma` of
    /// its own: `max-age=0` together with ``askServerIfModified``, else `no-cache`.
    public static let refreshesOnTheWay = CachePolicy(rawValue: 128)

    /// Whether the choices go together: ``askServerIfModified`` and ``askServerIfStale`` exclude each other. A debug
    /// build stops where a policy of both is used; else the first counts.
    public var isConsistent: Bool { !isSuperset(of: [.askServerIfModified, .askServerIfStale]) }

    /// The policy of a validation with nobody waiting: what others on the way are told stays.
    var validating: CachePolicy { intersection(.refreshesOnTheWay).union(.askServerIfModified) }

    /// By the protocol's rules, whatever the coordinator's default says.
    public static let useProtocolCachePolicy: CachePolicy = .askServerIfStale
    /// Loaded from the origin; the response is stored.
    public static let reloadIgnoringLocalCacheData: CachePolicy = .doNotRead
    /// Loaded from the origin, past caches on the way too; the response is stored.
    public static let reloadIgnoringLocalAndRemoteCacheData: CachePolicy = [.doNotRead, .refreshesOnTheWay]
    /// What is stored answers whatever its age; else it is loaded.
    public static let returnCacheDataElseLoad: CachePolicy = .onlyLoadIfNotCached
    /// What is stored answers whatever its age; else there is no answer.
    public static let returnCacheDataDontLoad: CachePolicy = .doNotLoad
}
