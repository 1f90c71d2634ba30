import TrawlFrontier
import TrawlHTTP
import TrawlPlatform

/// What a queue keeps, beneath its lock: the machine, what it does not know of its fetches, and those who follow.
struct QueueState {
    /// Of the caller who holds a fetch's handle.
    struct Handle {
        let outcome: OutcomeCell
        let channel: EventChannel
        let control: FetchControl

        func end(_ result: Result<Response, FetchError>) {
            channel.post(.ended(result))
            outcome.resolve(result)
        }
    }

    /// A fetch that runs, or its sizing request.
    struct Run {
        /// Of the fetch, also while its size is asked for.
        let method: Request.Method
        let url: String
        /// What its caller says about it; nil of a sizing request, and without a handle.
        let control: FetchControl?
        /// Nil before it is handed over.
        var running: RunningFetch?
        var hop = HopShape()
        var told = ToldHead()
        /// Whether its bytes count: not when progress was set to nothing since it started.
        var counts = true
        var decoded: Int64 = 0
        /// How long the body of the hop in flight is, as its head says.
        var length: Int64?
        /// What was there before the hop in flight, which brings the rest.
        var base: Int64 = 0
    }

    /// What a fetch, or its sizing request, starts with.
    struct Launch {
        let request: Request
        let destination: Destination
        /// That of its handle; nil when nobody holds one.
        let channel: EventChannel?
        let decisions: (any FetchDecisions)?
    }

    /// A started fetch's part of progress.
    struct Shares {
        var down: ProgressTally.Share
        /// Nil when it has no body.
        var up: ProgressTally.Share?
        /// How often progress had been set to nothing when its turn came.
        let resets: UInt32
    }

    static let cancelled = FetchError(.cancelled, "")

    private(set) var settings: FetchQueue.Settings
    var machine: QueueMachine
    /// Whether somebody carries out what the machine says.
    var isPumping = false
    /// The fetches that wait, by place.
    private var waiting = WaitingRequests()
    var handles: [QueueMachine.FetchID: Handle] = [:]
    var deciders: [QueueMachine.FetchID: any FetchDecisions] = [:]
    var runs: [QueueMachine.FetchID: Run] = [:]
    /// Of fetches that ended, or are refused, and of sizing requests that failed, until they are told.
    var results: [QueueMachine.FetchID: Result<Response, FetchError>] = [:]
    private var silent: Set<QueueMachine.FetchID> = []

    var down: ProgressTally
    /// Bodies of requests, from when their fetches start.
    var up: ProgressTally
    var downRate = RateMeter()
    var upRate = RateMeter()
    /// Wider than what one fetch may say, as in the tallies.
    var decoded: Int128 = 0
    /// When running fetches were looked at last, and before that: what has moved since then moved from then on.
    var lookedAt: MonotonicInstant?
    var previousLook: MonotonicInstant?
    /// For how long fetches, or sizing requests, have run since progress was nothing.
    var runningTime = BusyTime()
    /// Of fetches that were started and are not told yet.
    var shares: [QueueMachine.FetchID: Shares] = [:]
    private var seenResets: UInt32 = 0
    /// The next so many fetches told that never started were added before progress was set to nothing.
    private var uncounted = 0
    private(set) var isOver = false
    /// Who follows.
    var readers: QueueReaderTable

    /// - Parameter queue: The number of the queue.
    init(_ settings: FetchQueue.Settings, queue: UInt64) {
        self.settings = settings
        readers = QueueReaderTable(queue: queue)
        machine = QueueMachine(
            .init(
                width: settings.width, cancelsOthersOnFailure: settings.cancelsOthersOnFailure,
                isAccurate: settings.progress == .accurate))
        down = ProgressTally(
            settings.progress == .accurate ? .accurate : .simple, isMonotonic: settings.isProgressMonotonic)
        up = ProgressTally(.accurate, isMonotonic: settings.isProgressMonotonic)
    }

    mutating func apply(_ settings: FetchQueue.Settings) {
        self.settings = settings
        machine.setWidth(settings.width)
        machine.setCancelsOthersOnFailure(settings.cancelsOthersOnFailure)
        machine.setAccurate(settings.progress == .accurate)
    }

    // MARK: Adding and cancelling

    /// - Parameter refusal: What the fetch ends with when its turn comes, without having been started.
    mutating func add(
        _ request: Request, into destination: Destination, _ priority: HopPriority,
        after dependencies: [QueueMachine.FetchID], needsSuccess: Bool, _ refusal: FetchError? = nil
    ) -> QueueMachine.FetchID {
        if machine.pendingCount == 0 { countAnew() }
        let isSizeable = refusal == nil && request.effectiveMethod == .get && request.body.isEmpty
        let id = machine.add(
            priority: priority, isSizeable: isSizeable, after: dependencies, needsSuccess: needsSuccess)
        waiting.keep(request, destination, for: id)
        if let refusal { results[id] = .failure(refusal) }
        _ = down.add()
        isOver = false
        return id
    }

    /// Tells the machine something, and follows when it sets progress to nothing.
    mutating func change(_ event: (inout QueueMachine) -> Void) {
        event(&machine)
        noteRunning()
        guard machine.progressResets != seenResets else { return }
        seenResets = machine.progressResets
        runningTime.reset(at: MonotonicClock.now())
        // The shares of those that started are of before the reset and count no more.
        uncounted = machine.pendingCount - shares.count
        for id in Array(runs.keys) { runs[id]?.counts = false }
        down.reset()
        up.reset()
        decoded = 0
    }

    /// To be called when something may have started, rested or ended.
    private mutating func noteRunning() {
        let isRunning = machine.runningCount > 0
        if isRunning != runningTime.isBusy { runningTime.set(isRunning, at: MonotonicClock.now()) }
    }

    mutating func cancel(_ method: Request.Method?, path: String) -> Int {
        var found: [QueueMachine.FetchID] = []
        for id in machine.living {
            let run = runs[id]
            guard let named = run.map({ ($0.method, $0.url) }) ?? waiting.name(of: id) else { continue }
            if method == nil || named.0 == method, WaitingRequests.path(of: named.1) == path { found.append(id) }
        }
        change { for id in found { $0.cancel(id) } }
        return found.count
    }

    /// The caller has suspended or resumed a fetch, or changed its priority.
    ///
    /// - Returns: The fetch, where the coordinator has it.
    mutating func controlChanged(_ id: QueueMachine.FetchID) -> RunningFetch? {
        guard let control = runs[id]?.control ?? handles[id]?.control else { return nil }
        // As it is now: what was said before may come later.
        if !control.isSuspended {
            machine.resume(id)
        } else if machine.suspend(id) {
            control.awaitsTurn = true
            noteRunning()
        }
        return runs[id]?.running
    }

    /// The turn of a fetch has come again.
    ///
    /// - Returns: The fetch, where the coordinator has it.
    mutating func goOn(_ id: QueueMachine.FetchID) -> RunningFetch? {
        noteRunning()
        guard let run = runs[id] else { return nil }
        run.control?.awaitsTurn = false
        return run.running
    }

    mutating func withdraw(_ id: QueueMachine.FetchID) -> Handle? {
        // One that was told already has no handle here any more.
        guard let handle = handles.removeValue(forKey: id) else { return nil }
        silent.insert(id)
        change { $0.withdraw(id) }
        return handle
    }

    /// - Returns: The handles of the fetches that are forgotten, and who was to decide for them: what a program gave is
    ///   let go of outside of the lock.
    mutating func reset() -> (handles: [Handle], deciders: [any FetchDecisions]) {
        shares = [:]
        results = [:]
        silent = []
        change { $0.reset() }
        uncounted = 0
        waiting = WaitingRequests()
        isOver = false
        let letGo = Array(deciders.values) + [settings.decisions].compactMap { $0 }
        settings.decisions = nil
        defer { (handles, deciders) = ([:], [:]) }
        return (Array(handles.values), letGo)
    }

    // MARK: Starting

    /// The turn of a fetch, or of its sizing request, has come.
    mutating func begin(_ id: QueueMachine.FetchID) {
        noteRunning()
        if shares[id] == nil { shares[id] = Shares(down: down.freshShare, resets: seenResets) }
    }

    /// What a fetch starts with; nil when it is refused. It waits no longer, unless it is its size that is asked for.
    mutating func launch(_ id: QueueMachine.FetchID, forSize: Bool) -> Launch? {
        guard results[id] == nil, let (kept, destination) = forSize ? waiting.look(at: id) : waiting.take(id) else {
            return nil
        }
        var request = kept
        // Nothing is told of who asks for a size.
        let handle = forSize ? nil : handles[id]
        if forSize { Self.askForSize(&request) }
        // Progress may have been set to nothing since its turn came.
        let counts = shares[id]?.resets == seenResets
        runs[id] = Run(
            method: kept.effectiveMethod, url: request.url, control: handle?.control,
            hop: HopShape(isHEAD: kept.effectiveMethod == .head), counts: counts)
        if !forSize, counts, !request.body.isEmpty {
            var share = up.add()
            let step = up.learned(Int64(request.body.bytes.count), of: &share)
            shares[id]?.up = share
            readers.tell(step, .upload, id)
        }
        let decider = forSize ? deciders[id] : deciders.removeValue(forKey: id)
        return Launch(
            request: request, destination: forSize ? .discard : destination, channel: handle?.channel,
            decisions: decider ?? settings.decisions)
    }

    /// Makes of a request the one for the size of its response.
    ///
    /// Without a content coding: some servers tell for HEAD the length of no bytes coded, which is 20 (ASI-GZ-05).
    private static func askForSize(_ request: inout Request) {
        request.method = .head
        if !request.fields.lines.contains("Accept-Encoding") { request.fields["Accept-Encoding"] = "identity" }
    }

    /// Whether a fetch is still to be told of.
    func isFollowed(_ id: QueueMachine.FetchID) -> Bool { shares[id] != nil && !silent.contains(id) }

    mutating func record(_ request: SentRequest, of id: QueueMachine.FetchID) { runs[id]?.hop.next = request }

    /// A fetch, or its sizing request, ended.
    mutating func ended(_ id: QueueMachine.FetchID, forSize: Bool, _ result: Result<Response, FetchError>) {
        let run = runs.removeValue(forKey: id)
        let isFollowed = shares[id] != nil
        var ending = QueueMachine.Ending.failed
        if case .success(let response) = result {
            ending = .succeeded
            if forSize, isFollowed { sized(response, id) }
            if !forSize, isFollowed, let run, run.counts {
                decoded += Int128(response.receivedLength) - Int128(run.decoded)
            }
        }
        if isFollowed, !forSize || ending == .failed { results[id] = result }
        change { forSize ? $0.sizingEnded(id, ending) : $0.ended(id, ending) }
    }

    // MARK: Telling

    /// A fetch is told as ended.
    ///
    /// - Returns: Who was to decide for it: what a program gave is let go of outside of the lock.
    mutating func conclude(
        _ id: QueueMachine.FetchID, because reason: QueueMachine.FailureReason?
    ) -> (any FetchDecisions)? {
        waiting.drop(id)
        let result = results.removeValue(forKey: id) ?? .failure(Self.error(for: reason))
        var isSuccess = false
        if case .success = result { isSuccess = true }
        if var shares = shares.removeValue(forKey: id) {
            readers.tell(down.ended(&shares.down, isSuccess: isSuccess), .download, id)
            if var share = shares.up {
                // A response to a request is the end of its body, however much of it was wanted.
                readers.tell(up.ended(&share, isSuccess: isSuccess), .upload, id)
            }
        } else if uncounted > 0 {
            uncounted -= 1
        } else {
            var share = down.freshShare
            _ = down.ended(&share, isSuccess: false)
        }
        let handle = handles.removeValue(forKey: id)
        if silent.remove(id) == nil {
            readers.tellEnd(of: id, result, handle)
            tellProgress(at: MonotonicClock.now())
        }
        return deciders.removeValue(forKey: id)
    }

    private static func error(for reason: QueueMachine.FailureReason?) -> FetchError {
        switch reason {
        case .dependency: FetchError(.cancelled, "a fetch that it was to follow failed")
        case .cancelled: cancelled
        case .own, .sizing, nil: FetchError(.internalError, "a fetch of a queue ended without a result")
        }
    }

    mutating func concludeAll() {
        isOver = true
        waiting.giveBackPlaces()
        // First, so that who resets the queue at its end has had it.
        tellProgress(at: MonotonicClock.now(), isFinal: true)
        readers.tell(.queueFinished)
    }
}
