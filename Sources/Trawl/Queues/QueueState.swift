import TrawlFrontier
import TrawlHTTP
import TrawlPlatform

/// What a queue keeps, beneath its lock: the machine, what it does not know of its fetches, and those who follow.
struct QueueState {
    /// Of the caller who holds a fetch's handle.
    struct Handle {
        let outcome: OutcomeCell
        let channel: EventChannel

        func end(_ result: Result<Response, FetchError>) {
            channel.post(.ended(result))
            outcome.resolve(result)
        }
    }

    /// A fetch that runs, or its sizing request.
    struct Run {
        let sink: QueueRun
        let method: Request.Method
        let url: String
        /// Nil before it is handed over.
        var running: RunningFetch?
        var hop = HopShape()
        var decoded: Int64 = 0
    }

    /// A started fetch's part of progress.
    struct Shares {
        var down: ProgressTally.Share
        /// Nil when it has no body.
        var up: ProgressTally.Share?
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
    /// Of fetches that ended, and of sizing requests that failed, until they are told.
    var results: [QueueMachine.FetchID: Result<Response, FetchError>] = [:]
    private var silent: Set<QueueMachine.FetchID> = []

    private var down: ProgressTally
    /// Bodies of requests, from when their fetches start.
    private var up: ProgressTally
    private var downRate = RateMeter()
    private var upRate = RateMeter()
    private var decoded: Int64 = 0
    /// When running fetches were looked at last, and before that: what has moved since then moved from then on.
    private var lookedAt: MonotonicInstant?
    private var previousLook: MonotonicInstant?
    private var startedAt: MonotonicInstant?
    /// Of fetches that were started and are not told yet.
    private var shares: [QueueMachine.FetchID: Shares] = [:]
    private var seenResets: UInt32 = 0
    /// The next so many fetches told that never started were added before progress was set to nothing.
    private var uncounted = 0
    private var isOver = false

    private var lastReader: UInt64 = 0
    private var eventReaders: [UInt64: AsyncStream<FetchQueue.Event>.Continuation] = [:]
    private var stepReaders: [UInt64: AsyncStream<FetchQueue.ByteStep>.Continuation] = [:]
    private var progressReaders = ProgressReaders()
    private var progressNumbers: [UInt64: UInt64] = [:]

    init(_ settings: FetchQueue.Settings) {
        self.settings = settings
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

    mutating func add(
        _ request: Request, into destination: Destination, _ priority: HopPriority,
        after dependencies: [QueueMachine.FetchID], needsSuccess: Bool
    ) -> QueueMachine.FetchID {
        if machine.pendingCount == 0 { countAnew() }
        let isSizeable = request.effectiveMethod == .get && request.body.isEmpty
        let id = machine.add(
            priority: priority, isSizeable: isSizeable, after: dependencies, needsSuccess: needsSuccess)
        waiting.keep(request, destination, for: id)
        _ = down.add()
        isOver = false
        return id
    }

    /// Another way to count is taken up when nothing is pending.
    private mutating func countAnew() {
        let mode: ProgressTally.Mode = settings.progress == .accurate ? .accurate : .simple
        guard down.mode != mode || down.isMonotonic != settings.isProgressMonotonic else { return }
        down = ProgressTally(mode, isMonotonic: settings.isProgressMonotonic)
        up = ProgressTally(.accurate, isMonotonic: settings.isProgressMonotonic)
        decoded = 0
    }

    /// Tells the machine something, and follows when it sets progress to nothing.
    mutating func change(_ event: (inout QueueMachine) -> Void) {
        event(&machine)
        guard machine.progressResets != seenResets else { return }
        seenResets = machine.progressResets
        // The shares of those that started are of before the reset and count no more.
        uncounted = machine.pendingCount - shares.count
        down.reset()
        up.reset()
        decoded = 0
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

    mutating func withdraw(_ id: QueueMachine.FetchID) -> Handle? {
        // One that was told already has no handle here any more.
        guard let handle = handles.removeValue(forKey: id) else { return nil }
        silent.insert(id)
        change { $0.withdraw(id) }
        return handle
    }

    /// - Returns: The handles of the fetches that are forgotten.
    mutating func reset() -> [Handle] {
        shares = [:]
        results = [:]
        silent = []
        change { $0.reset() }
        uncounted = 0
        waiting = WaitingRequests()
        isOver = false
        startedAt = nil
        defer { handles = [:] }
        deciders = [:]
        return Array(handles.values)
    }

    // MARK: Starting

    /// The turn of a fetch, or of its sizing request, has come.
    mutating func begin(_ id: QueueMachine.FetchID) {
        if startedAt == nil { startedAt = MonotonicClock.now() }
        if shares[id] == nil { shares[id] = Shares(down: down.freshShare) }
    }

    /// What a fetch starts with. It waits no longer, unless it is its size that is asked for.
    mutating func launch(
        _ id: QueueMachine.FetchID, forSize: Bool, _ makeSink: (Handle?) -> QueueRun
    ) -> (Request, Destination, QueueRun, (any FetchDecisions)?)? {
        guard let (kept, destination) = forSize ? waiting.look(at: id) : waiting.take(id) else { return nil }
        var request = kept
        let sink = makeSink(forSize ? nil : handles[id])
        if forSize { request.method = .head }
        runs[id] = Run(sink: sink, method: request.effectiveMethod, url: request.url)
        if !forSize, shares[id] != nil, !request.body.isEmpty {
            var share = up.add()
            let step = up.learned(Int64(request.body.bytes.count), of: &share)
            shares[id]?.up = share
            tell(step, .upload, id)
        }
        let decider = forSize ? deciders[id] : deciders.removeValue(forKey: id)
        return (request, forSize ? .discard : destination, sink, decider ?? settings.decisions)
    }

    // MARK: Running

    /// Whether a fetch is still to be told of.
    func isFollowed(_ id: QueueMachine.FetchID) -> Bool { shares[id] != nil && !silent.contains(id) }

    mutating func record(_ request: SentRequest, of id: QueueMachine.FetchID) { runs[id]?.hop.next = request }

    /// An attempt of a fetch begins: what was moved by the one before counts no more.
    mutating func attemptBegan(_ id: QueueMachine.FetchID) {
        guard let run = runs[id], shares[id] != nil else { return }
        var hop = run.hop
        let sendsBody = hop.begin() != nil
        runs[id]?.hop = hop
        decoded -= run.decoded
        runs[id]?.decoded = 0
        move(downTo: 0, of: id)
        if sendsBody { move(upTo: 0, of: id) }
    }

    mutating func headCame(_ head: Response.ResponseHead, of id: QueueMachine.FetchID) {
        guard var hop = runs[id]?.hop, var share = shares[id]?.down else { return }
        let size = hop.size(of: head)
        runs[id]?.hop = hop
        let step = down.learned(size, of: &share)
        shares[id]?.down = share
        tell(step, .download, id)
    }

    mutating func measured(_ progress: FetchProgress, of id: QueueMachine.FetchID, at now: MonotonicInstant) {
        guard let run = runs[id], let share = shares[id] else { return }
        if lookedAt != now {
            previousLook = lookedAt
            lookedAt = now
        }
        let since = previousLook ?? now
        if run.hop.sendsBody {
            upRate.moved(Int64(clamping: progress.sent) - (share.up?.moved ?? 0), at: since)
            move(upTo: Int64(clamping: progress.sent), of: id)
        }
        if run.hop.hasHead {
            downRate.moved(Int64(clamping: progress.received) - share.down.moved, at: since)
            move(downTo: Int64(clamping: progress.received), of: id)
            decoded += Int64(clamping: progress.decoded) - run.decoded
            runs[id]?.decoded = Int64(clamping: progress.decoded)
        }
    }

    private mutating func move(downTo bytes: Int64, of id: QueueMachine.FetchID) {
        guard var share = shares[id]?.down, share.moved != bytes else { return }
        let step = down.moved(bytes - share.moved, of: &share)
        shares[id]?.down = share
        tell(step, .download, id)
    }

    private mutating func move(upTo bytes: Int64, of id: QueueMachine.FetchID) {
        guard var share = shares[id]?.up, share.moved != bytes else { return }
        let step = up.moved(bytes - share.moved, of: &share)
        shares[id]?.up = share
        tell(step, .upload, id)
    }

    /// A fetch, or its sizing request, ended.
    mutating func ended(_ id: QueueMachine.FetchID, forSize: Bool, _ result: Result<Response, FetchError>) {
        let run = runs.removeValue(forKey: id)
        let isFollowed = shares[id] != nil
        var ending = QueueMachine.Ending.failed
        if case .success(let response) = result {
            ending = .succeeded
            if forSize, isFollowed { sized(response, id) }
            if !forSize, isFollowed { decoded += Int64(clamping: response.receivedLength) - (run?.decoded ?? 0) }
        }
        if isFollowed, !forSize || ending == .failed { results[id] = result }
        change { forSize ? $0.sizingEnded(id, ending) : $0.ended(id, ending) }
    }

    /// What a sizing request says (ASI-PROG-03).
    private mutating func sized(_ response: Response, _ id: QueueMachine.FetchID) {
        guard var share = shares[id]?.down else { return }
        // A server that has no HEAD (RFC 9110 §15.5.6, §15.6.2) does not know the size; otherwise the GET may tell it yet.
        let isRefused = response.status == 405 || response.status == 501
        guard isRefused || response.expectedLength != nil else { return }
        let size = isRefused ? nil : response.expectedLength.map { Int64(clamping: $0) }
        let step = down.learned(size, of: &share)
        shares[id]?.down = share
        tell(step, .download, id)
    }

    // MARK: Telling

    /// A fetch is about to be told as ended.
    ///
    /// - Returns: Its result, and its handle; nil when nothing is told of it.
    mutating func conclude(
        _ id: QueueMachine.FetchID, because reason: QueueMachine.FailureReason?
    ) -> (result: Result<Response, FetchError>, handle: Handle?)? {
        waiting.drop(id)
        deciders[id] = nil
        let result = results.removeValue(forKey: id) ?? .failure(Self.error(for: reason))
        var isSuccess = false
        if case .success = result { isSuccess = true }
        if var shares = shares.removeValue(forKey: id) {
            tell(down.ended(&shares.down, isSuccess: isSuccess), .download, id)
            if var share = shares.up {
                // A response to a request is the end of its body, however much of it was wanted.
                tell(up.ended(&share, isSuccess: isSuccess), .upload, id)
            }
        } else if uncounted > 0 {
            uncounted -= 1
        } else {
            var share = down.freshShare
            _ = down.ended(&share, isSuccess: false)
        }
        let handle = handles.removeValue(forKey: id)
        return silent.remove(id) == nil ? (result, handle) : nil
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
        tell(.queueFinished)
        tellProgress(at: MonotonicClock.now(), isFinal: true)
    }

    func tell(_ event: FetchQueue.Event) {
        for reader in eventReaders.values { reader.yield(event) }
    }

    private func tell(
        _ step: ProgressTally.Step, _ direction: FetchQueue.ByteStep.Direction, _ id: QueueMachine.FetchID
    ) {
        guard step != .none, !stepReaders.isEmpty else { return }
        let step = FetchQueue.ByteStep(fetch: .init(id: id), direction: direction, moved: step.moved, size: step.size)
        for reader in stepReaders.values { reader.yield(step) }
    }

    mutating func tellProgress(at now: MonotonicInstant, isFinal: Bool = false) {
        guard !progressReaders.isEmpty else { return }
        let due = progressReaders.due(at: now, isFinal: isFinal)
        if due.isEmpty { return }
        let progress = progress(at: now)
        for reader in due { reader.yield(progress) }
    }

    mutating func progress(at now: MonotonicInstant = MonotonicClock.now()) -> TransferProgress {
        var upload = TransferProgress.Direction.nothing
        if up.total > 0 || up.livingCount > 0 { upload = .init(up, &upRate, since: startedAt, at: now) }
        return TransferProgress(
            download: .init(down, &downRate, since: startedAt, at: now), upload: upload, decoded: decoded,
            isComplete: isOver)
    }

    // MARK: Readers

    mutating func addReader(_ reader: AsyncStream<FetchQueue.Event>.Continuation) -> UInt64 {
        lastReader += 1
        eventReaders[lastReader] = reader
        return lastReader
    }

    mutating func addReader(_ reader: AsyncStream<FetchQueue.ByteStep>.Continuation) -> UInt64 {
        lastReader += 1
        stepReaders[lastReader] = reader
        return lastReader
    }

    mutating func addReader(_ reader: AsyncStream<TransferProgress>.Continuation) -> UInt64 {
        lastReader += 1
        progressNumbers[lastReader] = progressReaders.add(reader, every: ProgressReaders.shortestInterval)
        return lastReader
    }

    mutating func removeReader(_ number: UInt64) -> QueueReaders {
        var readers = QueueReaders()
        if let reader = eventReaders.removeValue(forKey: number) { readers.events = [reader] }
        if let reader = stepReaders.removeValue(forKey: number) { readers.steps = [reader] }
        if let other = progressNumbers.removeValue(forKey: number) { progressReaders.remove(other) }
        return readers
    }

    mutating func takeReaders() -> QueueReaders {
        let readers = QueueReaders(
            events: Array(eventReaders.values), steps: Array(stepReaders.values),
            progress: progressReaders.removeAll())
        eventReaders = [:]
        stepReaders = [:]
        progressNumbers = [:]
        return readers
    }
}
