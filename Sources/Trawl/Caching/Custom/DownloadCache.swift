import TrawlCache

/// A response cache of a program's own, in place of the store's.
///
/// The rules stay the library's: what may be stored, what answers, what is validated, what an answer makes invalid (RFC
/// 9111 and ``CachePolicy``), and ``FetchDecisions/storing(_:from:proposal:)`` is asked as for the store. Such a cache
/// keeps entries and gives them back; one that cannot does nothing and returns nothing. It is used for what
/// ``Coordinator/send(_:)`` fetches into memory; other fetches of that coordinator use no cache, and neither do those
/// with a client certificate. What comes over a connection that was not verified is not stored. Parts of bodies are
/// neither stored nor completed, and identical fetches at once are each sent: a program whose cache lies far away can
/// join them itself.
///
/// Redirects are followed in the task of the fetch, and for the engine each hop is a fetch of its own. The limits of
/// time hold for all of them together, and what the cache takes counts. Attempts (``RequestOptions/retry``) and waits
/// for the network (``RequestOptions/TimeLimits/connectivity``) are counted for each hop, and a further attempt begins
/// with the hop that failed. Status and metrics count what the engine has fetched: each hop that was sent, and nothing
/// that the cache answered.
///
/// Its methods are called in the task of the fetch, many at a time.
///
/// - Source: ASIHTTPRequest's `ASICacheDelegate` (ASI-CACHE-26).
public protocol DownloadCache: Sendable {
    /// A secret of the cache's own, 16 random bytes or more, the same as long as its entries are kept.
    ///
    /// Entries hold tags made with it in place of credentials. When it changes, entries that came for requests with
    /// credentials neither answer nor make room any more. Nil, the default, is one for each coordinator: right for a
    /// cache that does not outlive it.
    var secret: [UInt8]? { get }
    /// What is stored for a URL: one entry, or several that differ by what `Vary` names. In any order.
    func entries(for url: String) async -> [DownloadCacheEntry]
    /// Keeps an entry, and lets go of those it takes the place of.
    func store(_ entry: DownloadCacheEntry, replacing: [DownloadCacheEntry.ID]) async
    /// The server said that an entry is still right: keeps its new ``DownloadCacheEntry/record``. All else of it is as
    /// it was; one that is not kept any more need not come back.
    func update(_ entry: DownloadCacheEntry) async
    /// Lets go of some entries of a URL.
    func remove(_ entries: [DownloadCacheEntry.ID], for url: String) async
    /// Lets go of all entries of a URL.
    func removeEntries(for url: String) async
    /// Lets go of the entries of all URLs that are meant.
    func removeEntries(where isMeant: @Sendable (_ url: String) -> Bool) async
    /// Lets go of the entries that are to stay so long: those of the session, when that is cleared
    /// (``Coordinator/clearSession()``). Does nothing where a program says nothing else.
    func removeEntries(kept storage: RequestOptions.Caching.Storage) async
}

extension DownloadCache {
    /// None of its own.
    public var secret: [UInt8]? { nil }

    /// Nothing: a cache without a session has nothing of one.
    public func removeEntries(kept storage: RequestOptions.Caching.Storage) async {}

    /// Lets go of everything.
    public func removeAll() async {
        await removeEntries { _ in true }
    }
}

/// A stored response, as a ``DownloadCache`` keeps it.
public struct DownloadCacheEntry: Sendable, Hashable, Codable, Identifiable {
    /// Names the entry among all others.
    public let id: String
    /// The URL it is found by, normalised and without fragment and user information.
    public let url: String
    /// How long it is to stay.
    public let storage: RequestOptions.Caching.Storage
    /// The response's head and what is known of it, in a form of the library's own. Versioned; one that cannot be read
    /// is as if it were not there.
    public let record: [UInt8]
    /// The body, content codings on.
    public let body: [UInt8]

    init(id: String? = nil, url: String, storage: RequestOptions.Caching.Storage, record: [UInt8], body: [UInt8]) {
        self.id = id ?? String(UInt64.random(in: 0 ... .max), radix: 36)
        self.url = url
        self.storage = storage
        self.record = record
        self.body = body
    }

    /// The program's own data, as ``FetchDecisions/storing(_:from:proposal:)`` gave them; empty when the record cannot
    /// be read.
    public var metadata: [UInt8] {
        record.withUnsafeBytes { (try? StoredView($0)).map { Array($0.metadata) } ?? [] }
    }

    /// The same entry after a validation.
    func updated(_ record: [UInt8]) -> DownloadCacheEntry {
        DownloadCacheEntry(id: id, url: url, storage: storage, record: record, body: body)
    }
}
