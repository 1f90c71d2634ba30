import Trawl

/// A cache policy by name: the cache modes of the Fetch standard, as `--cache-policy` and `cache_policy` have them.
enum CacheMode: String, CaseIterable, Sendable {
    /// What is fresh answers, what is stale is validated.
    case standard = "default"
    /// The server is always asked; what is stored answers when it is still right.
    case noCache = "no-cache"
    /// What is stored is not looked at; the response is stored.
    case reload
    /// Neither looked at nor stored.
    case noStore = "no-store"
    /// What is stored answers whatever its age; else the server.
    case forceCache = "force-cache"
    /// What is stored answers whatever its age; else nothing does.
    case onlyIfCached = "only-if-cached"

    /// The library's word for it.
    ///
    /// - Source: Fetch, "request cache mode" and HTTP-network-or-cache fetch, steps 15 to 17: `no-cache` sends
    ///   `Cache-Control: max-age=0`, `no-store` and `reload` send `Cache-Control: no-cache`.
    var policy: CachePolicy {
        switch self {
        case .standard: .useProtocolCachePolicy
        case .noCache: [.askServerIfModified, .refreshesOnTheWay]
        case .reload: [.doNotRead, .refreshesOnTheWay]
        case .noStore: [.doNotRead, .doNotWrite, .refreshesOnTheWay]
        case .forceCache: .onlyLoadIfNotCached
        case .onlyIfCached: .doNotLoad
        }
    }

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
