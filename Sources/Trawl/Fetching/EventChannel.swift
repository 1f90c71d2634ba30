import Synchronization

/// The events of one fetch on their way to one reader.
///
/// What waits here is bounded: pieces of a body by the credits the worker has, progress by keeping only the latest,
/// the rest by the limits on redirects and heads.
final class EventChannel: Sendable {
    private struct State {
        var waiting: [FetchEvent] = []
        var first = 0
        var reader: CheckedContinuation<FetchEvent?, Never>?
        var hasReader = false
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Adds an event. Nothing is added after the end.
    func post(_ event: FetchEvent) {
        let reader: CheckedContinuation<FetchEvent?, Never>? = state.withLock { state in
            guard !state.isFinished else { return nil }
            if case .ended = event { state.isFinished = true }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            if case .progress = event, let last = state.waiting.last, case .progress = last,
                state.first < state.waiting.count
            {
                state.waiting[state.waiting.count - 1] = event
            } else {
                state.waiting.append(event)
            }
            return nil
        }
        reader?.resume(returning: event)
    }

    /// Waits for the next event.
    ///
    /// - Returns: nil after the end, or when the task is cancelled.
    func next() async -> FetchEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: FetchEvent?? = state.withLock { state in
                    if state.first < state.waiting.count {
                        let event = state.waiting[state.first]
                        state.first += 1
                        if state.first == state.waiting.count {
                            state.waiting.removeAll(keepingCapacity: true)
                            state.first = 0
                        } else if state.first > 64 {
                            state.waiting.removeFirst(state.first)
                            state.first = 0
                        }
                        return .some(event)
                    }
                    if state.isFinished || Task.isCancelled { return .some(nil) }
                    precondition(state.reader == nil, "the events of a fetch have one reader")
                    state.reader = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }
}
