/// A response cache of a program's own, in place of the store's.
///
/// The rules stay the library's: what may be stored, what answers, what is validated (RFC 9111 and
/// ``CachePolicy``). Such a cache keeps entries and gives them back. It is used for what
/// ``Coordinator/send(_:)`` fetches into memory; other fetches of that coordinator use no cache. Its methods are called in
/// the task of the fetch, many at a time.
///
/// - Source: ASIHTTPRequest's `ASICacheDelegate` (ASI-CACHE-26).
public protocol DownloadCache: Sendable {
    /// What is stored for a URL: one entry, or several that differ by what `Vary` names. In any order.
    func entries(for url: String) async -> [DownloadCacheEntry]
    /// Keeps an entry, and lets go of those it takes the place of.
    func store(_ entry: DownloadCacheEntry, replacing: [DownloadCacheEntry.ID]) async
    /// Lets go of all entries of a URL.
    func removeEntries(for url: String) async
}

/// A stored response, as a ``DownloadCache`` keeps it.
public struct DownloadCacheEntry: Sendable, Hashable, Codable, Identifiable {
    /// Names the entry among all others.
    public let id: String
    /// The URL it is found by, normalised and without fragment and user information.
    public let url: String
    /// The response's head and what is known of it, in a form of the library's own. Versioned; one that cannot be read is
    /// as if it were not there.
    public let record: [UInt8]
    /// The body, content codings on.
    public let body: [UInt8]

    init(url: String, record: [UInt8], body: [UInt8]) {
        id = String(UInt64.random(in: 0 ... .max), radix: 36)
        self.url = url
        self.record = record
        self.body = body
    }
}
