import TrawlFrontier
import TrawlHTTP

/// Those who follow a queue: its events, its steps of bytes, its progress.
///
/// What they are told waits in a line, beneath the queue's lock, and is told outside of it: who cancels a task that
/// waits holds that task's lock while `onTermination` waits for the queue's, and to resume the task waits for the
/// former (documentation of `withTaskCancellationHandler`, "Cancellation handlers and locks").
struct QueueReaderTable {
    /// The number of the queue, whose fetches are named by it.
    private let queue: UInt64
    private var lastNumber: UInt64 = 0
    private var events: [UInt64: AsyncStream<FetchQueue.Event>.Continuation] = [:]
    private var steps: [UInt64: AsyncStream<FetchQueue.ByteStep>.Continuation] = [:]
    private var progress = ProgressReaders()
    /// Their numbers there, by ours.
    private var progressNumbers: [UInt64: UInt64] = [:]
    /// What is to be told, in order.
    private var news: [QueueNews] = []
    /// Whether somebody does so.
    private var isTelling = false

    init(queue: UInt64) { self.queue = queue }

    // MARK: Coming and going

    /// - Returns: Its number, to remove it by.
    mutating func add(_ reader: AsyncStream<FetchQueue.Event>.Continuation) -> UInt64 {
        lastNumber += 1
        events[lastNumber] = reader
        return lastNumber
    }

    /// - Returns: Its number, to remove it by.
    mutating func add(_ reader: AsyncStream<FetchQueue.ByteStep>.Continuation) -> UInt64 {
        lastNumber += 1
        steps[lastNumber] = reader
        return lastNumber
    }

    /// - Returns: Its number, to remove it by.
    mutating func add(_ reader: AsyncStream<TransferProgress>.Continuation) -> UInt64 {
        lastNumber += 1
        progressNumbers[lastNumber] = progress.add(reader, every: ProgressReaders.shortestInterval)
        return lastNumber
    }

    /// Removes one, which is to be let go of outside of any lock.
    mutating func remove(_ number: UInt64) -> QueueReaders {
        var readers = QueueReaders()
        if let reader = events.removeValue(forKey: number) { readers.events = [reader] }
        if let reader = steps.removeValue(forKey: number) { readers.steps = [reader] }
        if let other = progressNumbers.removeValue(forKey: number) { progress.remove(other) }
        return readers
    }

    /// All of them, who are readers no longer.
    mutating func takeAll() -> QueueReaders {
        let readers = QueueReaders(
            events: Array(events.values), steps: Array(steps.values), progress: progress.removeAll())
        events = [:]
        steps = [:]
        progressNumbers = [:]
        return readers
    }

    // MARK: Telling

    private func name(_ id: QueueMachine.FetchID) -> FetchQueue.FetchID { .init(queue: queue, id: id) }

    /// Tells an event.
    mutating func tell(_ event: FetchQueue.Event) {
        if !events.isEmpty { news.append(.event(event, to: events)) }
    }

    /// Tells the end of a fetch: first its handle, then those who follow now.
    mutating func tellEnd(
        of id: QueueMachine.FetchID, _ result: Result<Response, FetchError>, _ handle: QueueState.Handle?
    ) {
        if handle != nil || !events.isEmpty { news.append(.ended(name(id), result, handle, to: events)) }
    }

    /// Tells a step of bytes, if it is one.
    mutating func tell(
        _ step: ProgressTally.Step, _ direction: FetchQueue.ByteStep.Direction, _ id: QueueMachine.FetchID
    ) {
        guard step != .none, !steps.isEmpty else { return }
        let step = FetchQueue.ByteStep(fetch: name(id), direction: direction, moved: step.moved, size: step.size)
        news.append(.step(step, to: steps))
    }

    /// Tells progress to those whose turn it is.
    mutating func tell(_ progress: TransferProgress, to due: [AsyncStream<TransferProgress>.Continuation]) {
        news.append(.progress(progress, to: due))
    }

    /// Who is to be told of progress now.
    mutating func due(at now: MonotonicInstant, isFinal: Bool) -> [AsyncStream<TransferProgress>.Continuation] {
        progress.isEmpty ? [] : progress.due(at: now, isFinal: isFinal)
    }

    /// - Returns: Whether the caller is to tell what ``takeNews()`` gives, until that is nil. Otherwise there is
    ///   nothing, or somebody does so already.
    mutating func beginTelling() -> Bool {
        if isTelling || news.isEmpty { return false }
        isTelling = true
        return true
    }

    /// What is to be told next, in order; nil when that was all, and others may tell.
    mutating func takeNews() -> [QueueNews]? {
        if news.isEmpty {
            isTelling = false
            return nil
        }
        defer { news = [] }
        return news
    }
}
