import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession

/// What callers say to the supervisor: a list under a lock and a wake-up for its thread.
final class Mailbox: Sendable {
    enum Command: Sendable {
        case submit(RunningFetch)
        case submitAll([RunningFetch])
        /// From now on the driver has a turn in each of the supervisor's; then opens the gate.
        case drive(DriverHandover, WakeUpGate)
        case cancel(RunningFetch)
        /// Its caller has suspended or resumed a fetch, or changed its priority.
        case controlChanged(RunningFetch)
        /// A program has decided how the response of that lease is stored, nil being not at all; or why its fetch fails.
        case decided(RunningFetch, lease: UInt64, Result<StoringOrder?, FetchError>)
        /// A program has decided about the redirect that question was about.
        case redirectDecided(RunningFetch, question: UInt64, RedirectAnswer)
        /// Somebody has answered a fetch's question for credentials; or why the fetch fails.
        case told(RunningFetch, question: UInt64, Result<CredentialDecision, FetchError>)
        /// The turn to ask has come to a fetch that waits with that question.
        case askNext(RunningFetch, question: UInt64)
        /// A vault has not kept credentials that work, for that reason.
        case notKept(String)
        /// A program looks after the session's credentials.
        case credentials(CredentialRequest)
        /// The cache or state that a hop waits for is open, or cannot be.
        case storeOpened(directory: ExactText)
        /// A program has decided whether a server is trusted; or why those who wait for that fail.
        case trustDecided(TrustSubject, Result<TrustChoice, FetchError>)
        /// A program has said which client certificate a server is shown, nil being none; or why those who wait for
        /// that fail.
        case identityDecided(Origin, Result<ClientIdentity?, FetchError>)
        /// A proxy script has said, or could not say, what way there is to an origin.
        case routed(ProxyScripts.Question, ProxyScripts.Answer)
        /// A name was looked up; without addresses when it has none, nil when there was no thread for it.
        case located(String, [String]?)
        /// The consumer of a streamed body took so many bytes.
        case consumed(RunningFetch, Int)
        /// The network is another one.
        case networkChanged
        /// A host gets rules of its own, or loses them.
        case setHostRules(Origin, HostRules?)
        /// A host that was given up is taken back.
        case restoreHost(Origin)
        case shutDown(grace: Duration)
        /// Somebody follows, or does no longer, how many fetches there are.
        case follow(UInt64, AsyncStream<Int>.Continuation)
        case unfollow(UInt64)
        /// Somebody looks on.
        case status(StatusQuestion)
        /// Stops or continues all workers, as a terminal's job control does with the coordinator; then opens the gate.
        case signalWorkers(Int32, WakeUpGate)
    }

    private struct State {
        var commands: [Command] = []
        var isClosed = false
    }

    let wakeUp: WakeUp
    private let state = Guarded(State())

    init() throws(SystemError) {
        wakeUp = try WakeUp()
    }

    /// - Returns: False when the supervisor is gone and nothing will be done.
    @discardableResult
    func post(_ command: Command) -> Bool {
        let wasEmpty: Bool? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.commands.append(command)
            return state.commands.count == 1
        }
        // The supervisor takes all commands at once, so only the first of a batch needs to wake it.
        if wasEmpty == true { wakeUp.signal() }
        return wasEmpty != nil
    }

    /// All commands since the last call; `spare` becomes the next list, so that its memory is used again.
    func take(reusing spare: inout [Command]) -> [Command] {
        spare.removeAll(keepingCapacity: true)
        return state.withLock { state in
            swap(&state.commands, &spare)
            return spare
        }
    }

    /// Refuses everything from now on and returns what was still there.
    func close() -> [Command] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }
}
