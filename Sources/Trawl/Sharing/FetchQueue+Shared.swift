extension FetchQueue {
    /// The queue that all parts of a program may share, of ``Coordinator/default``: it runs, makes four fetches at a time,
    /// and a failure of one cancels no other. What one part changes of it holds for all.
    ///
    /// - Throws: What ``Coordinator/default`` throws.
    /// - Source: `+[ASIHTTPRequest sharedQueue]` (ASI-RUN-02, ASI-MISC-05).
    public static var shared: FetchQueue {
        get throws(FetchError) { try DefaultCoordinator.shared.queue() }
    }
}

extension Request {
    /// Starts the fetch in ``FetchQueue/shared`` and returns its handle at once. A request that cannot be sent fails
    /// through the handle, as does any when the default coordinator cannot be started.
    ///
    /// ```swift
    /// let fetch = Request("https://example.org/").start()
    /// let response = try await fetch.response
    /// ```
    ///
    /// - Source: `-[ASIHTTPRequest startAsynchronous]` (ASI-RUN-02).
    public func start(into destination: Destination = .memory) -> Fetch {
        do throws(FetchError) {
            return try FetchQueue.shared.add(self, into: destination).fetch
        } catch {
            return Fetch(failed: error, channel: EventChannel(), control: FetchControl(id: 0))
        }
    }
}
