import TrawlHTTP
import TrawlPlatform

/// The events of one fetch on their way to one reader.
///
/// What waits here is bounded: pieces of a body by the credits the worker has, short ones being made one, progress by
/// keeping only the latest, attempts that failed by keeping the first ones and the latest, the rest by the limits on
/// redirects and heads.
final class EventChannel: FetchEventSink {
    /// Bytes of a piece that is made of several: as many as one that comes may have.
    private static let longestPiece = 64 << 10
    /// Attempts that failed of which nobody has read, before the latest takes the place of the one before.
    static let mostRetries = 100
    /// Requests sent, the latest, that are kept at least.
    static let mostSent = 1000

    private struct State {
        var waiting: [FetchEvent] = []
        var first = 0
        var reader: CheckedContinuation<FetchEvent?, Never>?
        /// The blocked thread that is the reader instead.
        var blocked: WakeUpGate?
        /// How many attempts that failed wait.
        var retries = 0
        /// The latest requests sent, in order of their attempts, and how many came before them.
        var sent: [SentRequest] = []
        var forgotten = 0
        /// The response that was no answer.
        var refused: Response.ResponseHead?
        /// When the turn of the latest attempt came.
        var exchangeStart: MonotonicInstant?
        var told = ToldHead()
        var isFinished = false
    }

    private let state = Guarded(State())
    /// How far the fetch has come.
    let meter: FetchMeter

    /// - Parameter isHEAD: Whether it is a fetch without a body.
    init(isHEAD: Bool = false) { meter = FetchMeter(isHEAD: isHEAD) }

    /// Adds an event, unless it is a head that was told before. Nothing is added after the end.
    func post(_ event: FetchEvent) {
        meter.note(event)
        var blocked: WakeUpGate?
        let reader: CheckedContinuation<FetchEvent?, Never>? = state.withLock { state in
            guard !state.isFinished, state.told.isNews(event) else { return nil }
            if case .ended = event { state.isFinished = true }
            blocked = state.blocked.take()
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            Self.add(event, to: &state)
            return nil
        }
        blocked?.open()
        reader?.resume(returning: event)
    }

    /// Waits for the next event.
    ///
    /// - Returns: nil after the end, or when the task is cancelled.
    func next() async -> FetchEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: FetchEvent?? = state.withLock { state in
                    if let event = Self.takeFirst(&state) { return .some(event) }
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

    /// Blocks the calling thread until there is an event.
    ///
    /// - Returns: nil after the end.
    func nextBlocking() -> FetchEvent? {
        let gate = WakeUpGate()
        while true {
            let now: FetchEvent?? = state.withLock { state in
                if let event = Self.takeFirst(&state) { return .some(event) }
                if state.isFinished { return .some(nil) }
                precondition(state.reader == nil && state.blocked == nil, "the events of a fetch have one reader")
                state.blocked = gate
                return nil
            }
            if let now { return now }
            gate.wait()
        }
    }

    /// Whether its last event was posted, or it was ended without one.
    var isOver: Bool { state.withLock { $0.isFinished } }

    func measured(_ progress: FetchProgress, at now: MonotonicInstant) { meter.measured(progress, at: now) }

    /// Ends it without an event.
    func silence() {
        let (reader, blocked) = state.withLock { state in
            state.isFinished = true
            state.waiting = []
            state.first = 0
            state.retries = 0
            return (state.reader.take(), state.blocked.take())
        }
        meter.silence()
        blocked?.open()
        reader?.resume(returning: nil)
    }

    func record(_ request: SentRequest) {
        meter.record(request)
        state.withLock { state in
            if state.sent.count >= 2 * Self.mostSent {
                state.sent.removeFirst(Self.mostSent)
                state.forgotten += Self.mostSent
            }
            state.sent.append(request)
        }
    }

    /// The request of an attempt, 1 for the first; nil for one that is not kept any more.
    func sent(attempt: Int) -> SentRequest? {
        state.withLock { state in
            let index = attempt - 1 - state.forgotten
            return state.sent.indices.contains(index) ? state.sent[index] : nil
        }
    }

    /// Keeps the head of a response that makes the fetch fail, before the end is posted.
    func recordRefused(_ head: Response.ResponseHead) {
        state.withLock { $0.refused = head }
    }

    /// The head of the response that made the fetch fail.
    var refusedHead: Response.ResponseHead? { state.withLock { $0.refused } }

    /// How many events wait, for tests.
    var waitingCount: Int { state.withLock { $0.waiting.count - $0.first } }

    func exchangeBegan(at now: MonotonicInstant) { state.withLock { $0.exchangeStart = now } }

    /// When the turn of the latest attempt came; nil when none has.
    var exchangeStart: MonotonicInstant? { state.withLock { $0.exchangeStart } }

    private static func add(_ event: FetchEvent, to state: inout State) {
        var last = state.waiting.count - 1
        var isBehindProgress = false
        if last >= state.first, case .progress = state.waiting[last] { isBehindProgress = true }
        switch event {
        case .progress where isBehindProgress:
            state.waiting[last] = event
        case .data(let bytes):
            // How far the hop has come is not told the earlier for a piece that comes before it.
            if isBehindProgress { last -= 1 }
            guard last >= state.first, case .data(var piece) = state.waiting[last],
                piece.count + bytes.count <= longestPiece
            else { return state.waiting.append(event) }
            // Nobody else has it then, and it grows in place: a server may send single bytes.
            state.waiting[last] = .started
            piece += bytes
            state.waiting[last] = .data(piece)
        case .retrying:
            if state.retries >= mostRetries, replaceRetry(with: event, in: &state) { return }
            state.retries += 1
            state.waiting.append(event)
        case .started, .attempt, .forwarded, .interim, .authenticating, .waitingForConnectivity, .redirected,
            .head, .resumedAtOffset, .progress, .ended:
            state.waiting.append(event)
        }
    }

    /// Puts an attempt that failed in the place of the one that waits, with all that is told of it.
    ///
    /// - Returns: Whether it could: bytes of a body stay.
    private static func replaceRetry(with event: FetchEvent, in state: inout State) -> Bool {
        var place = state.waiting.count - 1
        while place >= state.first {
            switch state.waiting[place] {
            case .retrying:
                state.waiting.removeSubrange((place + 1)...)
                state.waiting[place] = event
                return true
            case .attempt, .forwarded, .interim, .authenticating, .redirected, .head, .progress: place -= 1
            case .started, .waitingForConnectivity, .resumedAtOffset, .data, .ended: return false
            }
        }
        return false
    }

    private static func takeFirst(_ state: inout State) -> FetchEvent? {
        guard state.first < state.waiting.count else { return nil }
        let event = state.waiting[state.first]
        if case .retrying = event { state.retries -= 1 }
        state.waiting[state.first] = .started
        state.first += 1
        if state.first == state.waiting.count {
            state.waiting.removeAll(keepingCapacity: true)
            state.first = 0
        } else if state.first * 2 >= state.waiting.count {
            state.waiting.removeFirst(state.first)
            state.first = 0
        }
        return event
    }
}
