import Trawl

/// What the cache did for a run.
struct CacheTally: Equatable, Sendable {
    /// Answered without asking anybody.
    var hits = 0
    /// Answered by what is stored, which the server said is still right.
    var validated = 0
    /// Answered by what is stored although it is stale.
    var stale = 0
    /// Answered by the server.
    var misses = 0

    /// A response came.
    mutating func count(_ source: Response.Source) {
        switch source {
        case .cache: hits += 1
        case .revalidated: validated += 1
        case .stale: stale += 1
        case .network: misses += 1
        // Nothing was stored, and nobody was asked.
        case .generated: break
        }
    }

    /// Whether anything came out of the cache.
    var isOfUse: Bool { hits + validated + stale > 0 }

    /// `3 hits, 1 validated, 12 misses`
    var text: String {
        let stale = stale > 0 ? "\(stale) stale, " : ""
        return "\(hits.counted("hit")), \(validated) validated, \(stale)\(misses.counted("miss", "misses"))"
    }
}
