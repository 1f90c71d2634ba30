import TrawlFrontier
import TrawlHTTP
import TrawlPlatform

/// Fetches of a program in order: so many at a time, by priority and after one another, watched and cancelled together.
///
/// A new queue is suspended. All its fetches are made by one coordinator, whose limits hold beside the queue's own. May
/// be used from any thread; none of its methods waits. A queue that its program lets go of goes on with what runs and
/// waits, unless it is suspended. Once its coordinator is shut down all fetches fail, suspended or not.
///
/// ```swift
/// let queue = FetchQueue(on: coordinator)
/// for url in urls { queue.add(Request(url), into: .discard) }
/// let events = queue.events
/// queue.start()
/// for await event in events {
///     switch event {
///     case .finished(let fetch, let response): print(fetch, response.status)
///     case .failed(let fetch, let error): print(fetch, error)
///     case .queueFinished: return
///     default: break
///     }
/// }
/// ```
///
/// - Source: ASIHTTPRequest's network queue, `NSOperationQueue`, AFHTTPClient's batches; `docs/queues.md`.
public final class FetchQueue: Sendable {
    /// Who makes the fetches.
    public let coordinator: Coordinator
    /// No other queue of the process has, had or will have it.
    let number: UInt64
    let state: Guarded<QueueState>
    private static let lastNumber = Guarded<UInt64>(0)

    /// A queue without fetches, suspended.
    ///
    /// - Parameter settings: Those of another queue make this a copy of it, without its fetches.
    public init(on coordinator: Coordinator, _ settings: Settings = Settings()) {
        self.coordinator = coordinator
        number = FetchQueue.lastNumber.withLock { last in
            last += 1
            return last
        }
        state = Guarded(QueueState(settings, queue: number))
        coordinator.ended.whenOpen(number) { [weak self] in self?.coordinatorEnded() }
    }

    deinit {
        coordinator.ended.forget(number)
        let (readers, handles) = state.withLock { state in (state.readers.takeAll(), Array(state.handles.values)) }
        readers.finish()
        // Who follows a fetch whose turn now never comes.
        for handle in handles { handle.end(.failure(QueueState.cancelled)) }
    }

    /// Names a fetch of a queue; means nothing to another queue. Never used again.
    public struct FetchID: Sendable, Hashable {
        /// The queue's number.
        let queue: UInt64
        let id: QueueMachine.FetchID
    }

    func name(_ id: QueueMachine.FetchID) -> FetchID { FetchID(queue: number, id: id) }

    /// What a copy of a queue takes over.
    public struct Settings: Sendable {
        /// How many fetches run at a time, over all workers, sizing requests among them; those that are suspended are
        /// none of them. Default 4, at least 1.
        public var width = 4
        /// Whether the first fetch that fails or is cancelled cancels all others. A status of 400 or more is no
        /// failure. Default true.
        public var cancelsOthersOnFailure = true
        /// What ``FetchQueue/progress`` counts. Default ``Counting/simple``.
        public var progress = Counting.simple
        /// Whether the fraction of progress never goes back, whatever is added late. Default false.
        public var isProgressMonotonic = false
        /// Who decides for fetches that have no decider of their own, in place of ``Configuration/decisions``.
        ///
        /// One decider is asked. Where it has no answer the next is not asked instead.
        public var decisions: (any FetchDecisions)?
        /// The program's own.
        public var userInfo: [String: any Sendable] = [:]

        /// Four at a time, all or nothing.
        public init() {}
    }

    /// What progress counts.
    public enum Counting: String, Sendable, Hashable, Codable {
        /// Fetches.
        case simple
        /// Bytes. The size of each GET that is added while the queue is suspended is asked for by HEAD first; of others
        /// it counts from when it is known. A response that says none counts as one.
        case accurate
    }

    /// What holds at present. Changes hold for what starts from now on; another way to count from when nothing is
    /// pending.
    ///
    /// To change one is to read all and to write all: where several threads do so, ``updateSettings(_:)`` loses none.
    public var settings: Settings {
        get { state.withLock { $0.settings } }
        set { updateSettings { $0 = newValue } }
    }

    /// Changes ``settings``, with no other change between reading and writing them.
    ///
    /// - Parameter change: Runs beneath the queue's lock: it must not wait, nor use the queue.
    public func updateSettings(_ change: (inout Settings) -> Void) {
        let old = state.withLock { state in
            let old = state.settings
            var settings = old
            change(&settings)
            state.apply(settings)
            return old
        }
        // What a program gave is let go of outside of the lock.
        withExtendedLifetime(old) {}
        pump()
    }

    /// Fetches whose end was not told yet. It goes down before the end of each is told.
    public var pendingCount: Int { state.withLock { $0.machine.pendingCount } }

    /// Whether nothing starts.
    public var isSuspended: Bool { state.withLock { $0.machine.isSuspended } }

    // MARK: Adding

    /// Adds a fetch.
    ///
    /// - Parameters:
    ///   - priority: From 0 to 1, 0.5 being the middle, in five levels. Within a level the first is first.
    ///   - dependencies: Fetches of this queue that must have ended well before. When one fails, this one fails with
    ///     ``FetchError/Code/cancelled``. Those that have ended by now are not waited for, however they ended: in a
    ///     queue that runs, one that was added just before may have failed. Add both while the queue is suspended.
    ///     Those of another queue are not waited for either.
    ///   - startsAfterFailure: Whether it merely waits for those, however they end.
    ///   - decisions: Who decides for this fetch, in place of the queue's decider.
    /// - Returns: The handle. A fetch into ``Destination/stream`` is cancelled when it is let go of, others go on.
    @discardableResult
    public func add(
        _ request: Request, into destination: Destination = .memory, priority: Double = 0.5,
        after dependencies: [FetchID] = [], startsAfterFailure: Bool = false, decisions: (any FetchDecisions)? = nil
    ) -> QueuedFetch {
        let (outcome, channel) = (OutcomeCell(), EventChannel(isHEAD: request.effectiveMethod == .head))
        let control = FetchControl(id: coordinator.nextFetchID(), priority: priority)
        let own = dependencies.compactMap { $0.queue == number ? $0.id : nil }
        let id = state.withLock { state in
            let id = state.add(
                request, into: destination, HopPriority(priority), after: own, needsSuccess: !startsAfterFailure)
            state.handles[id] = QueueState.Handle(outcome: outcome, channel: channel, control: control)
            if let decisions { state.deciders[id] = decisions }
            return id
        }
        pump()
        let fetch = Fetch(
            id, in: self, outcome: outcome, channel: channel, control: control, isStream: destination == .stream)
        return QueuedFetch(id: name(id), fetch: fetch)
    }

    /// Adds many fetches without handles: less than 200 bytes of memory for each that waits.
    ///
    /// - Parameter destination: Where the bodies go. Into ``Destination/stream``, which nobody could read, each fetch
    ///   fails with ``FetchError/Code/badRequest`` when its turn comes.
    /// - Returns: Their names, in the order of the requests.
    @discardableResult
    public func add(
        contentsOf requests: some Sequence<Request>, into destination: Destination = .memory, priority: Double = 0.5
    ) -> [FetchID] {
        let level = HopPriority(priority)
        let refusal = destination == .stream ? FetchError.unreadableStream : nil
        let added = requests.map { request in
            let id = state.withLock { state in
                state.add(request, into: destination, level, after: [], needsSuccess: true, refusal)
            }
            return name(id)
        }
        pump()
        return added
    }

    // MARK: Running

    /// Lets fetches start. Does no harm to a queue that runs.
    public func start() {
        state.withLock { $0.machine.start() }
        pump()
    }

    /// Lets no further fetch start; what runs goes on.
    public func suspend() { state.withLock { $0.machine.suspend() } }

    /// As ``start()``.
    public func resume() { start() }

    // MARK: Ending

    /// Cancels a fetch: it fails with ``FetchError/Code/cancelled`` unless it is over. One of another queue is left
    /// alone.
    public func cancel(_ fetch: FetchID) {
        if fetch.queue == number { cancel(fetch.id) }
    }

    /// Cancels all fetches, and sets progress to nothing. Each is told as failed, then the queue as finished.
    public func cancelAll() {
        state.withLock { $0.change { $0.cancelAll() } }
        pump()
    }

    /// Cancels the fetches that wait or run, have that method and a URL of that path.
    ///
    /// Where the queue cancels all others on failure, it does so on this too.
    ///
    /// - Parameters:
    ///   - method: nil is any.
    ///   - path: As in the URL, without its query; `/` is that of a URL without a path.
    /// - Returns: How many there were.
    /// - Source: AFHTTPClient's `cancelAllHTTPOperationsWithMethod:path:` (AFC-11).
    @discardableResult
    public func cancelAll(_ method: Request.Method? = nil, path: String) -> Int {
        let count = state.withLock { $0.cancel(method, path: path) }
        pump()
        return count
    }

    /// Cancels all fetches, tells nothing more of them, ends all sequences of events and progress, lets go of who decides
    /// (``Settings/decisions``), and suspends the queue, which can be used again. Its other settings stay. Who waits for
    /// the response of such a fetch gets ``FetchError/Code/cancelled``.
    ///
    /// - Source: ASIHTTPRequest's `reset`, which clears the delegate too (ASI-Q-06).
    public func reset() {
        let (readers, forgotten) = state.withLock { state in (state.readers.takeAll(), state.reset()) }
        readers.finish()
        for handle in forgotten.handles { handle.end(.failure(QueueState.cancelled)) }
        pump()
    }

    /// Nothing is fetched any more: what waits fails, also what was held back.
    private func coordinatorEnded() {
        state.withLock { $0.machine.engineEnded() }
        pump()
    }

    func cancel(_ id: QueueMachine.FetchID) {
        state.withLock { $0.change { $0.cancel(id) } }
        pump()
    }

    /// Cancels a fetch of which nothing is told.
    func withdraw(_ id: QueueMachine.FetchID) {
        let handle = state.withLock { $0.withdraw(id) }
        handle?.channel.silence()
        handle?.outcome.resolve(.failure(QueueState.cancelled))
        pump()
    }

    /// The handle of a fetch was let go of.
    ///
    /// - Parameter isFollowed: Whether somebody follows its progress, who is told to the end.
    func letGo(_ id: QueueMachine.FetchID, isFollowed: Bool, cancels: Bool) {
        let handle = state.withLock { isFollowed ? $0.handles[id] : $0.handles.removeValue(forKey: id) }
        if handle != nil, cancels { cancel(id) }
    }

    /// The caller has suspended or resumed a fetch, or changed its priority.
    func controlChanged(_ id: QueueMachine.FetchID) {
        let running = state.withLock { $0.controlChanged(id) }
        if let running { coordinator.post(.controlChanged(running)) }
        pump()
    }

    /// A reader took bytes of a streamed body.
    func consumed(_ id: QueueMachine.FetchID, _ bytes: Int) {
        guard let running = state.withLock({ $0.runs[id]?.running }) else { return }
        coordinator.post(.consumed(running, bytes))
    }
}

/// A fetch of a queue.
public struct QueuedFetch: Sendable {
    /// Its name in the queue's events and for ``FetchQueue/add(_:into:priority:after:startsAfterFailure:decisions:)``.
    public let id: FetchQueue.FetchID
    /// Its handle. Its events and its end come before those of the queue.
    public let fetch: Fetch

    /// The answer, as soon as it is there. Cancelling the asking task cancels the fetch.
    public var response: Response {
        get async throws(FetchError) { try await fetch.response }
    }

    /// Cancels it.
    public func cancel() { fetch.cancel() }
}
