/// Something that happened to a fetch, in order.
public enum FetchEvent: Sendable {
    /// The fetch was taken on. Comes once, first; not to one of a queue that ends before its turn has come.
    case started
    /// A hop is sent to a worker: 1 for the first, more after redirects and repetitions.
    case attempt(Int)
    /// The cache does not answer the attempt, and its request goes to the server with these field lines beside its own,
    /// each in the place of those of its name: conditions, a range, `Cache-Control`. There may be none. Not where no
    /// cache has a part in it. Source: `fwd` of RFC 9211 §2.2.
    case forwarded(Fields)
    /// A 1xx response.
    case interim(Response.ResponseHead)
    /// A challenge is being answered: the request goes out again, with credentials. The head is the one that
    /// challenged.
    case authenticating(AuthenticationReport, Response.ResponseHead)
    /// There is no network; the fetch goes on when there is one (``RequestOptions/waitsForConnectivity``). Comes once
    /// at most.
    case waitingForConnectivity
    /// An attempt failed in a way that may pass, and another one follows (``RequestOptions/retry``). Heads and
    /// redirects that were told of before belong to the one that failed. Of more than a hundred that wait for their
    /// reader the latest takes the place of the one before, with what was told of it.
    case retrying(FailedAttempt)
    /// A redirect is being followed.
    case redirected(Response.RedirectHop)
    /// The head of the response that will be the answer. Comes once: where a worker dies after it and the request is
    /// made again, only a head with another status comes after it, and takes its place.
    case head(Response.ResponseHead)
    /// The rest of the body comes, behind so many bytes that were there (``ResumeData``). Before the first of them; not
    /// when the body comes as a whole.
    case resumedAtOffset(UInt64)
    /// A piece of the body, of 64 KiB at most, for a fetch into ``Destination/stream``. Pieces that wait for their
    /// reader may become one.
    case data([UInt8])
    /// How far the hop in flight has come; at most four times a second.
    case progress(FetchProgress)
    /// The end; comes once, last.
    case ended(Result<Response, FetchError>)
}

/// How far the hop in flight has come.
public struct FetchProgress: Sendable, Hashable {
    /// Bytes of the body received, before decoding.
    public let received: UInt64
    /// The length the server announced, or nil.
    public let expected: UInt64?
    /// Bytes of the request's body sent.
    public let sent: UInt64
    /// Bytes of the body delivered, after decoding.
    public let decoded: UInt64
}
