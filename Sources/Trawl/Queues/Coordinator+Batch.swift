extension Coordinator {
    /// Fetches many requests, so many at a time, and waits for all of them. A failure of one ends no other.
    ///
    /// Cancelling the task cancels those that have not ended.
    ///
    /// - Parameters:
    ///   - destination: Where the body of each goes, by its place among the requests; into memory by default. One into
    ///     ``Destination/stream``, which nobody could read, fails with ``FetchError/Code/badRequest``.
    ///   - width: How many run at a time. Default 4.
    ///   - progress: Told after each end how many have ended, failures included, and how many there are.
    /// - Returns: What became of each, in the order of the requests.
    /// - Source: AFHTTPClient's `enqueueBatchOfHTTPRequestOperations` (AFC-12).
    public func batch(
        _ requests: [Request], into destination: (Int) -> Destination = { _ in .memory }, width: Int = 4,
        progress: @escaping @Sendable (_ ended: Int, _ total: Int) -> Void = { _, _ in }
    ) async -> [Result<Response, FetchError>] {
        if requests.isEmpty { return [] }
        var settings = FetchQueue.Settings()
        settings.width = width
        settings.cancelsOthersOnFailure = false
        let queue = FetchQueue(on: self, settings)
        var places: [FetchQueue.FetchID: Int] = [:]
        for (place, request) in requests.enumerated() {
            for id in queue.add(contentsOf: CollectionOfOne(request), into: destination(place)) { places[id] = place }
        }
        let (events, total) = (queue.events, requests.count)
        let following = Task { [places] in
            var results = [Result<Response, FetchError>](repeating: .failure(QueueState.cancelled), count: total)
            var ended = 0
            func end(_ place: Int?, _ result: Result<Response, FetchError>) {
                guard let place else { return }
                results[place] = result
                ended += 1
                progress(ended, total)
            }
            following: for await event in events {
                switch event {
                case .finished(let id, let response): end(places[id], .success(response))
                case .failed(let id, let error): end(places[id], .failure(error))
                case .queueFinished: break following
                case .started, .willRedirect, .head: break
                }
            }
            return results
        }
        queue.start()
        return await withTaskCancellationHandler {
            await following.value
        } onCancel: {
            queue.cancelAll()
        }
    }
}
