/// What a hop may do with the cache of its profile.
package struct CacheAccess: OptionSet, Sendable, Hashable {
    /// The bits.
    package let rawValue: UInt8
    /// An access of its bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// What is stored may answer, or be asked about.
    package static let reads = CacheAccess(rawValue: 1)
    /// What comes may be stored, and what is stored may be changed.
    package static let writes = CacheAccess(rawValue: 2)
    /// A request may be sent; without it the hop fails with `storedResponse` when nothing stored answers.
    package static let sends = CacheAccess(rawValue: 4)

    /// Before a response is stored, its head is told and the transfer rests until the answer.
    package static let asks = CacheAccess(rawValue: 8)

    /// Others wait for the response to be stored, or may come to: they are told when it will not be.
    package static let leads = CacheAccess(rawValue: 16)

    /// Cookies of the request are those of the store's own jar: what they say of the user is the same for all who use
    /// it.
    package static let sharedCookies = CacheAccess(rawValue: 32)

    /// Whether nothing may be done at all. By the bits, since a set's own way is generic and this is asked of each hop.
    package var isEmpty: Bool { rawValue == 0 }

    static let all: CacheAccess = [.reads, .writes, .sends, .asks, .leads, .sharedCookies]
}
