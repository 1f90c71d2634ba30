package import TrawlHTTP

/// Where the engine says what happens to a fetch: its handle, the queue it belongs to, or who drives it.
///
/// Called on the supervisor's thread, but for a fetch that is refused; nothing here may wait.
package protocol FetchEventSink: AnyObject, Sendable {
    /// Something happened. ``FetchEvent/ended(_:)`` comes once, last.
    func post(_ event: FetchEvent)
    /// Keeps what an attempt sends, before its event is posted.
    func record(_ request: SentRequest)
    /// Keeps the head of a response that the fetch fails in spite of, before its end is posted.
    func recordRefused(_ head: Response.ResponseHead)
    /// The turn of an attempt has come: a worker gets its first hop, or that of the identical fetch it waits for.
    func exchangeBegan(at now: MonotonicInstant)
    /// How far the hop in flight is, at each look at it, and how far it was at its end.
    func measured(_ progress: FetchProgress, at now: MonotonicInstant)
}
