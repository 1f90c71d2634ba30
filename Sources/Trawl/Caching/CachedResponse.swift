import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlStore

/// A response as it is stored.
public struct CachedResponse: Sendable {
    /// Status line and header section as stored, with an `Age` of now.
    public let head: Response.ResponseHead
    /// When the response came or was last validated, in milliseconds since 1970.
    public let date: Int64
    /// How old it is.
    public let age: Duration
    /// For how long it was fresh when it was generated; beyond that age it is validated before it is used.
    public let lifetime: Duration
    /// How long it stays in the store, eviction apart.
    public let storage: RequestOptions.Caching.Storage
    /// Data of the program's own that were stored along.
    public let metadata: [UInt8]
    /// Bytes of the stored body, content codings on.
    public let bodyLength: UInt64
    /// Whether the whole body is stored, or only a part of it.
    public let isComplete: Bool

    private let wantsValidation: Bool
    private let body: StoredBody?
    private let limits: RequestOptions.SizeLimits

    init(_ hit: StoredHit, _ stored: StoredEntry, limits: RequestOptions.SizeLimits) {
        let facts = stored.response.facts
        head = Response.ResponseHead(hit.head)
        date = facts.responseTime.milliseconds
        age = .milliseconds(max(0, facts.age(at: WallClock.time())))
        lifetime = .milliseconds(max(0, facts.lifetime))
        wantsValidation = facts.flags.contains(.noCache)
        storage = stored.isOfSession ? .session : .permanent
        metadata = stored.response.metadata
        bodyLength = facts.body.length
        isComplete = facts.body.isComplete
        body = hit.body
        self.limits = limits
    }

    /// Whether it answers without the server being asked: it is not too old, and does not want to be validated each
    /// time (`no-cache`).
    public var isFresh: Bool { age < lifetime && !wantsValidation }

    /// The body as it was received, content codings on. A long one is read from its file now, which may block, and is
    /// compared with its checksums.
    ///
    /// - Throws: ``FetchError/Code/storeUnusable`` when it is damaged or gone.
    public func encodedBody() throws(FetchError) -> ResponseBody {
        switch body {
        case nil: return .empty
        case .bytes(let bytes): return ResponseBody(.bytes(bytes), codings: codings, limits: limits)
        case .blob(let reader):
            do throws(BlobError) {
                return ResponseBody(.bytes(try reader.bytes()), codings: codings, limits: limits)
            } catch {
                throw FetchError(.storeUnusable, "the stored body is damaged")
            }
        }
    }

    /// The body with its content codings undone.
    ///
    /// - Throws: As ``encodedBody()``; ``FetchError/Code/decoding`` when a coding is damaged or over the limits.
    public func decodedBody() throws(FetchError) -> [UInt8] {
        try encodedBody().decoded()
    }

    private var codings: [String] { head.fields.lines.values("Content-Encoding") }
}
