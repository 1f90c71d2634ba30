import TrawlFrontier
package import TrawlHTTP

/// The handle of a fetch that runs, or waits in a queue.
///
/// The fetch goes on when the handle is let go of, except one into ``Destination/stream``, which nobody could read, and
/// one that is suspended, which nobody could resume.
public final class Fetch: Sendable {
    /// Who makes it.
    enum Maker: Sendable {
        /// The request could not be sent at all.
        case nobody
        case coordinator(Coordinator, RunningFetch)
        case queue(FetchQueue, QueueMachine.FetchID)
    }

    let outcome: OutcomeCell
    let control: FetchControl
    let channel: EventChannel
    let maker: Maker
    private let isStream: Bool

    init(
        _ running: RunningFetch, outcome: OutcomeCell, channel: EventChannel, control: FetchControl,
        on coordinator: Coordinator
    ) {
        self.outcome = outcome
        self.control = control
        self.channel = channel
        maker = .coordinator(coordinator, running)
        if case .stream = running.plan.sink { isStream = true } else { isStream = false }
    }

    /// A fetch of a queue.
    init(
        _ id: QueueMachine.FetchID, in queue: FetchQueue, outcome: OutcomeCell, channel: EventChannel,
        control: FetchControl, isStream: Bool
    ) {
        self.outcome = outcome
        self.control = control
        self.channel = channel
        maker = .queue(queue, id)
        self.isStream = isStream
    }

    /// A fetch that failed before it began.
    init(failed error: FetchError, channel: EventChannel, control: FetchControl) {
        outcome = OutcomeCell()
        self.control = control
        self.channel = channel
        maker = .nobody
        isStream = false
        channel.post(.started)
        channel.post(.ended(.failure(error)))
        outcome.resolve(.failure(error))
    }

    deinit {
        switch maker {
        case .nobody: break
        case .coordinator: if isStream || control.isSuspended { cancel() }
        case .queue(let queue, let id):
            queue.letGo(id, isFollowed: meter.isFollowed, cancels: isStream || control.isSuspended)
        }
    }

    /// How far it has come.
    var meter: FetchMeter { channel.meter }

    /// What happens, in order, from ``FetchEvent/started`` to ``FetchEvent/ended(_:)``. A fetch of a queue that ends
    /// before its turn has the end alone. Has one reader.
    ///
    /// A fetch into ``Destination/stream`` makes no progress beyond a few hundred KiB while nobody reads. Events of
    /// redirects hold their heads until they are read or the handle is let go of.
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

    /// Ends the fetch: it fails with ``FetchError/Code/cancelled`` unless it is over already, or its file is complete
    /// by the time its worker hears of it. Files it was writing go.
    public func cancel() { Self.cancel(maker, control) }

    /// Ends the fetch as ``cancel()`` does, but for the time of its end: the worker has stopped by then, and what the
    /// hop in flight took is among the error's metrics.
    package func cancelMeasured() {
        control.noteCancelled(awaitsWorker: true)
        cancel()
    }

    private static func cancel(_ maker: Maker, _ control: FetchControl) {
        control.noteCancelled()
        switch maker {
        case .nobody: break
        case .coordinator(let coordinator, let running): coordinator.post(.cancel(running))
        case .queue(let queue, let id): queue.cancel(id)
        }
    }

    /// What ``cancel()`` does, for somebody who holds neither the handle nor who makes the fetch.
    package var cancellation: @Sendable () -> Void {
        let control = control
        // Not by `Self`, which would hold the handle.
        switch maker {
        case .nobody: return {}
        case .coordinator(let coordinator, let running):
            return { [weak coordinator, weak running] in
                guard let coordinator, let running else { return }
                Fetch.cancel(.coordinator(coordinator, running), control)
            }
        case .queue(let queue, let id):
            return { [weak queue] in
                if let queue { Fetch.cancel(.queue(queue, id), control) }
            }
        }
    }

    /// Ends the fetch without telling anybody: ``events`` and ``progress`` end there, ``response`` throws
    /// ``FetchError/Code/cancelled`` unless the fetch was complete by then, and a queue tells nothing of it and cancels
    /// no other for it.
    ///
    /// - Source: ASIHTTPRequest's `clearDelegatesAndCancel` (ASI-CAN-02).
    public func cancelSilently() {
        control.noteCancelled()
        switch maker {
        case .nobody: break
        case .coordinator(let coordinator, let running):
            channel.silence()
            coordinator.post(.cancel(running))
        case .queue(let queue, let id): queue.withdraw(id)
        }
    }

    private func consumed(_ event: FetchEvent?) {
        guard case .data(let bytes)? = event else { return }
        switch maker {
        case .nobody: break
        case .coordinator(let coordinator, let running): coordinator.post(.consumed(running, bytes.count))
        case .queue(let queue, let id): queue.consumed(id, bytes.count)
        }
    }

    /// The next event, for a program that has a thread to block; nil after the end.
    ///
    /// A fetch has one reader: this or ``events``.
    package func nextEventBlocking() -> FetchEvent? {
        let event = channel.nextBlocking()
        consumed(event)
        return event
    }

    /// What the attempt of that number sends, 1 for the first; known once its event has come.
    package func sentRequest(attempt: Int) -> SentRequest? {
        channel.sent(attempt: attempt)
    }

    /// The head of the response that made the fetch fail, such as a redirect that may not be followed; nil when it
    /// failed otherwise. Known at the end.
    package var refusedHead: Response.ResponseHead? { channel.refusedHead }

    /// When the turn of the latest attempt came, from which on ``RequestOptions/TimeLimits/exchange`` counts; nil when
    /// none has.
    package var exchangeStart: MonotonicInstant? { channel.exchangeStart }

    fileprivate func nextEvent() async -> FetchEvent? {
        let event = await channel.next()
        consumed(event)
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
