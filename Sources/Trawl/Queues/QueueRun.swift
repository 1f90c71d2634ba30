import TrawlFrontier
import TrawlHTTP
import TrawlPlatform

/// Where the engine tells what happens to a running fetch of a queue, or to its sizing request: first its handle learns
/// it, then the queue.
final class QueueRun: FetchEventSink {
    private let queue: FetchQueue
    private let id: QueueMachine.FetchID
    private let isForSize: Bool
    private let handle: EventChannel?

    init(_ id: QueueMachine.FetchID, of queue: FetchQueue, forSize: Bool, handle: EventChannel?) {
        self.id = id
        self.queue = queue
        isForSize = forSize
        self.handle = handle
    }

    func post(_ event: FetchEvent) {
        switch event {
        case .ended(let result):
            // The handle is told by the queue, whose count of pending fetches goes down before that.
            queue.state.withLock { $0.ended(id, forSize: isForSize, result) }
            queue.tellReaders()
            return queue.pump()
        case .started, .attempt, .forwarded, .interim, .authenticating, .waitingForConnectivity, .resumedAtOffset,
            .retrying, .redirected, .head, .data, .progress:
            break
        }
        guard !isForSize else { return }
        handle?.post(event)
        queue.state.withLock { state in
            switch event {
            case .attempt: state.attemptBegan(id)
            case .head(let head):
                state.headCame(head, of: id)
                let isNews = state.runs[id]?.told.isNews(event) ?? true
                if isNews, state.isFollowed(id) { state.readers.tell(.head(queue.name(id), head)) }
            case .redirected(let hop):
                _ = state.runs[id]?.told.isNews(event)
                if state.isFollowed(id) { state.readers.tell(.willRedirect(queue.name(id), hop)) }
            case .resumedAtOffset(let offset): state.goesOn(behind: Int64(clamping: offset), of: id)
            case .retrying: _ = state.runs[id]?.told.isNews(event)
            case .started, .forwarded, .interim, .authenticating, .waitingForConnectivity, .data, .progress, .ended:
                break
            }
        }
        queue.tellReaders()
    }

    func record(_ request: SentRequest) {
        guard !isForSize else { return }
        handle?.record(request)
        queue.state.withLock { $0.record(request, of: id) }
    }

    func recordRefused(_ head: Response.ResponseHead) { handle?.recordRefused(head) }

    func exchangeBegan(at now: MonotonicInstant) {
        guard !isForSize else { return }
        handle?.exchangeBegan(at: now)
    }

    func measured(_ progress: FetchProgress, at now: MonotonicInstant) {
        guard !isForSize else { return }
        handle?.measured(progress, at: now)
        queue.state.withLock { state in
            state.measured(progress, of: id, at: now)
            state.tellProgress(at: now)
        }
        queue.tellReaders()
    }
}
