/// Where the response a caller gets came from: what the rules of the cache say, and what workers tell by these numbers.
package enum ResultSource: UInt8, Sendable, Hashable, CaseIterable {
    /// The origin, or a cache of others before it.
    case network = 0
    /// The store, without asking.
    case cache = 1
    /// The store, after the origin said that what is stored is still right.
    case revalidated = 2
    /// The store, although stale, or in the place of an answer that did not come.
    case stale = 3

    /// Whether it is the store's word alone: no server was asked, or none answered.
    package var isStoreAlone: Bool { self == .cache || self == .stale }
}
