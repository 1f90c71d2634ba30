import Trawl
import TrawlHTTP
import TrawlPlatform

/// What `-w` wants to know of one of many fetches that its answer does not have: nobody reads their events.
final class FetchNotes: FetchEventSink {
    private struct State {
        var seen = SeenHeads()
        var exchangeStart: MonotonicInstant?
    }

    private let state = Guarded(State())

    /// What has come of heads.
    var seen: SeenHeads { state.withLock { $0.seen } }

    /// When its turn came; nil when it has not.
    var exchangeStart: MonotonicInstant? { state.withLock { $0.exchangeStart } }

    func post(_ event: FetchEvent) { state.withLock { $0.seen.note(event) } }

    func recordRefused(_ head: Response.ResponseHead) { state.withLock { $0.seen.noteRefused(head) } }

    func exchangeBegan(at now: MonotonicInstant) { state.withLock { $0.exchangeStart = now } }

    // What is sent, and how far that is, is not told.
    func record(_ request: SentRequest) {}
    func measured(_ progress: FetchProgress, at now: MonotonicInstant) {}
}
