/// The handle of a running fetch.
///
/// The fetch goes on when the handle is let go of, except one into ``Destination/stream``, which nobody could read.
public final class Fetch: Sendable {
    private let outcome: OutcomeCell
    private let channel: EventChannel
    /// Nil when the request could not be sent at all.
    private let running: (fetch: RunningFetch, coordinator: Coordinator)?

    init(_ running: RunningFetch, outcome: OutcomeCell, channel: EventChannel, on coordinator: Coordinator) {
        self.outcome = outcome
        self.channel = channel
        self.running = (running, coordinator)
    }

    /// A fetch that failed before it began.
    init(failed error: FetchError, channel: EventChannel) {
        outcome = OutcomeCell()
        self.channel = channel
        running = nil
        channel.post(.started)
        channel.post(.ended(.failure(error)))
        outcome.resolve(.failure(error))
    }

    deinit {
        if let running, case .stream = running.fetch.plan.sink { cancel() }
    }

    /// What happens, in order, from ``FetchEvent/started`` to ``FetchEvent/ended(_:)``. Has one reader.
    ///
    /// A fetch into ``Destination/stream`` makes no progress beyond a few hundred KiB while nobody reads.
    public var events: FetchEvents { FetchEvents(fetch: self) }

    /// The answer, as soon as it is there. May be asked for any number of times.
    ///
    /// Cancelling the asking task cancels the fetch.
    public var response: Response {
        get async throws(FetchError) {
            let answer = await withTaskCancellationHandler {
                await outcome.wait()
            } onCancel: {
                cancel()
            }
            return try answer.get()
        }
    }

    /// Ends the fetch: it fails with ``FetchError/Code/cancelled`` unless it is over already, or its file is complete by the
    /// time its worker hears of it. Files it was writing go.
    public func cancel() {
        if let running { running.coordinator.post(.cancel(running.fetch)) }
    }

    /// The next event, for a program that has a thread to block; nil after the end.
    ///
    /// A fetch has one reader: this or ``events``.
    package func nextEventBlocking() -> FetchEvent? {
        let event = channel.nextBlocking()
        if case .data(let bytes) = event, let running {
            running.coordinator.post(.consumed(running.fetch, bytes.count))
        }
        return event
    }

    /// What the attempt of that number sends, 1 for the first; known once its event has come.
    package func sentRequest(attempt: Int) -> SentRequest? {
        channel.sent(attempt: attempt)
    }

    /// The head of the response that made the fetch fail, such as a redirect that may not be followed; nil when it failed
    /// otherwise. Known at the end.
    package var refusedHead: Response.ResponseHead? { channel.refusedHead }

    fileprivate func nextEvent() async -> FetchEvent? {
        let event = await channel.next()
        if case .data(let bytes) = event, let running {
            running.coordinator.post(.consumed(running.fetch, bytes.count))
        }
        return event
    }

    /// The events of a fetch.
    public struct FetchEvents: AsyncSequence, Sendable {
        /// What the sequence gives.
        public typealias Element = FetchEvent
        /// The sequence itself never fails.
        public typealias Failure = Never

        let fetch: Fetch

        /// A reader; there may be one.
        public func makeAsyncIterator() -> Iterator { Iterator(fetch: fetch) }

        /// A reader of events.
        public struct Iterator: AsyncIteratorProtocol {
            let fetch: Fetch

            /// The next event, or nil after the end and when the task is cancelled.
            public mutating func next() async -> FetchEvent? {
                await fetch.nextEvent()
            }

            /// The next event, or nil after the end and when the task is cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> FetchEvent? {
                await fetch.nextEvent()
            }
        }
    }
}
