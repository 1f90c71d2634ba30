/// Those who follow a queue, on their way out.
struct QueueReaders {
    var events: [AsyncStream<FetchQueue.Event>.Continuation] = []
    var steps: [AsyncStream<FetchQueue.ByteStep>.Continuation] = []
    var progress: [AsyncStream<TransferProgress>.Continuation] = []

    /// Ends their sequences. To be done outside of any lock.
    func finish() {
        for reader in events { reader.finish() }
        for reader in steps { reader.finish() }
        for reader in progress { reader.finish() }
    }
}
