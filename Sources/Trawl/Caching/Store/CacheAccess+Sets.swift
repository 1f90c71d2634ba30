import TrawlProtocol

/// Sets that are met for every hop: made of members by an array each time, they take longer than looking something up
/// in a small dictionary.
extension CacheAccess {
    /// No cache has a part.
    static let nothing: CacheAccess = []
    /// What is stored is not changed.
    static let readsAndSends = CacheAccess(rawValue: reads.rawValue | sends.rawValue)
    /// All that is asked of nobody.
    static let unrestricted = CacheAccess(rawValue: reads.rawValue | writes.rawValue | sends.rawValue)
}
