/// What a program may decide while a fetch runs. Each method has a default that leaves it to the rules.
///
/// Called for many fetches at once, on no particular thread; a method that says `@MainActor`, or belongs to another actor,
/// is called there. The fetch waits, with those that wait for the same response; their clocks stand still, and other
/// fetches go on. A decider of one fetch is let go of before the fetch ends, also when its handle is kept; one that is
/// being asked just then as soon as it returns: the task that asks about a redirect or for credentials is cancelled, on
/// no particular thread either, others run to their end. One of a queue or coordinator is let go of with that.
///
/// When a method throws, the fetch fails with ``FetchError/Code/hookFailed`` (ASI-EVT-05); when it does not return within
/// ``Configuration/decisionTimeout``, with ``FetchError/Code/timeout``. Only a question for credentials may take as long
/// as it takes: it may be a person who is asked.
public protocol FetchDecisions: Sendable {
    /// A response from a server is about to be stored in the cache, as its head allows: whether it is, how, and with
    /// what data of the program's own.
    ///
    /// Not asked about responses that were validated; they stay as they were stored. Where a validation in the
    /// background (`stale-while-revalidate`) brings another one, the coordinator's decider is asked about that, with no
    /// fetch waiting; for a fetch with another decider what is stored is validated before it is served.
    ///
    /// - Parameters:
    ///   - response: The head of the response; its body is still to come.
    ///   - url: What was asked for in this hop, without user information.
    ///   - proposal: What happens otherwise.
    /// - Returns: How it is stored; nil for not at all.
    /// - Source: the URL Loading System's `willCacheResponse` (ULS-CACHE-06).
    func storing(
        _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
    ) async throws -> StoringChoice?

    /// A redirect is about to be followed, from a server or out of the cache: whether it is, and to where.
    ///
    /// Not asked about redirects that may not be followed; those fail.
    ///
    /// - Parameter proposal: What happens otherwise.
    /// - Source: the URL Loading System's `willPerformHTTPRedirection` (ULS-LIFE-05), ASIHTTPRequest's
    ///   `willRedirectToURL` (ASI-RED-08).
    func redirect(_ proposal: RedirectProposal) async throws -> RedirectChoice

    /// A server or proxy wants to know who asks, and neither request, URL, session, netrc nor vault say.
    ///
    /// Of many fetches that need the same one asks; the others wait, and take what worked. When the one that asks ends,
    /// the asking task is cancelled, and the next one asks. Never asked for ``Coordinator/sendBlocking(_:into:)``.
    ///
    /// - Source: the URL Loading System's authentication challenges (ULS-AUTH-05), ASIHTTPRequest's delegate.
    func credentials(for challenge: AuthenticationChallenge) async throws -> CredentialDecision

    /// A server shows a certificate, and ``RequestOptions/TLS/question`` says that the program is asked: whether it is
    /// trusted.
    ///
    /// The handshake is over and the connection is closed meanwhile; nothing of the request has been sent. Fetches that
    /// meet the same certificate wait for the one answer, and fail as the one that asks when none comes.
    ///
    /// - Source: the URL Loading System's challenge of server trust (ULS-LIFE-04).
    func trust(_ server: ServerTrust) async throws -> TrustChoice

    /// An https hop begins for which the options have no client certificate, and
    /// ``RequestOptions/TLS/asksForIdentity`` says that the program is asked: which one its server is shown.
    ///
    /// Nothing has been sent, and the cache has not been looked at. Fetches that need the same answer wait for it, and
    /// fail as the one that asks when none comes. It holds for that host and port, and for no other, as long as the
    /// coordinator lives, for fetches of the same option; one that the server refuses, or that cannot be used, is asked
    /// about again by the next fetch.
    ///
    /// - Returns: The certificate; nil for none.
    /// - Source: the URL Loading System's challenge of client certificates (ULS-AUTH-09). It is asked before the
    ///   handshake, where the original asks in the middle of it: libcurl cannot wait there.
    func identity(for server: IdentityQuestion) async throws -> ClientIdentity?
}

extension FetchDecisions {
    /// As the rules have it.
    public func storing(
        _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
    ) async -> StoringChoice? {
        proposal
    }

    /// Followed.
    public func redirect(_ proposal: RedirectProposal) async -> RedirectChoice { .follow }

    /// As if nobody had been asked.
    public func credentials(for challenge: AuthenticationChallenge) async -> CredentialDecision { .useStored }

    /// As the rules have it.
    public func trust(_ server: ServerTrust) async -> TrustChoice { .asVerified }

    /// None.
    public func identity(for server: IdentityQuestion) async -> ClientIdentity? { nil }
}

/// How a response is stored.
public struct StoringChoice: Sendable, Hashable {
    /// How long it stays.
    public var storage: RequestOptions.Caching.Storage
    /// Data of the program's own, given back with ``CachedResponse/metadata``. With more than 64 KiB of them the
    /// response is not stored at all.
    public var metadata: [UInt8]

    /// The longest ``metadata``.
    static let longestMetadata = 64 << 10

    /// A choice of its parts.
    public init(storage: RequestOptions.Caching.Storage = .permanent, metadata: [UInt8] = []) {
        self.storage = storage
        self.metadata = metadata
    }
}
