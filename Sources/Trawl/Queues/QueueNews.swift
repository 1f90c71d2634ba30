/// Something that happened in a queue, and who followed it then.
enum QueueNews: Sendable {
    /// Its handle, where somebody holds it, is told first.
    case ended(
        FetchQueue.FetchID, Result<Response, FetchError>, QueueState.Handle?,
        to: [UInt64: AsyncStream<FetchQueue.Event>.Continuation])
    case event(FetchQueue.Event, to: [UInt64: AsyncStream<FetchQueue.Event>.Continuation])
    case step(FetchQueue.ByteStep, to: [UInt64: AsyncStream<FetchQueue.ByteStep>.Continuation])
    case progress(TransferProgress, to: [AsyncStream<TransferProgress>.Continuation])

    /// Tells it. To be done outside of any lock.
    func tell() {
        switch self {
        case .ended(let id, let result, let handle, let readers):
            handle?.end(result)
            let event =
                switch result {
                case .success(let response): FetchQueue.Event.finished(id, response)
                case .failure(let error): FetchQueue.Event.failed(id, error)
                }
            for reader in readers.values { reader.yield(event) }
        case .event(let event, let readers): for reader in readers.values { reader.yield(event) }
        case .step(let step, let readers): for reader in readers.values { reader.yield(step) }
        case .progress(let progress, let readers): for reader in readers { reader.yield(progress) }
        }
    }
}
