import TrawlHTTP
import TrawlPlatform

/// What was sent last for a hop through a program's cache, and when a worker got it: after its turn has come, which may
/// be long after the hop began, and for the last of its attempts.
final class ExchangeNote: FetchEventSink {
    /// A request as a worker was told to send it.
    struct Sent: Sendable {
        let fields: FieldLines
        let at: WallTime
    }

    private let last = Guarded<Sent?>(nil)

    /// The last one; nil when nothing was sent.
    var sent: Sent? { last.withLock { $0 } }

    func record(_ request: SentRequest) {
        let sent = Sent(fields: request.fields, at: WallClock.time())
        last.withLock { $0 = sent }
    }

    func post(_ event: FetchEvent) {}
    func recordRefused(_ head: Response.ResponseHead) {}
    func exchangeBegan(at now: MonotonicInstant) {}
    func measured(_ progress: FetchProgress, at now: MonotonicInstant) {}
}
