// Trawl: the library as programs see it, and the engine behind it. It checks requests, decides what runs when, where
// and as whom, and tells what came of it. It never moves a byte of a transfer itself, trusts nothing that a worker
// sends, and leaves signals, standard streams, directory, mask and locale of its program alone.

import Glibc
import Synchronization
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore
import TrawlWatch

/// Drives a pool of worker processes and answers fetches: the library's centre.
///
/// One coordinator serves any number of callers on any threads. It installs no signal handler, changes no process-wide
/// setting of its host, and waits for no child but its own workers. Who has waited for ``shutdown(grace:)`` knows that
/// nothing of it is left; one that is merely let go of ends its workers and closes its store some time later.
///
/// ```swift
/// try await withCoordinator { coordinator in
///     let response = try await coordinator.send(Request("https://example.org/"))
/// }
/// ```
public final class Coordinator: Sendable {
    private let mailbox: Mailbox
    let planner: FetchPlanner
    let shelf: CacheShelf
    let state: StateShelf
    let cookieSettings: CookieSettings
    /// Whether the session holds credentials.
    let credentialState = CredentialState()
    /// The program's own cache, where it has one.
    let programCache: ProgramCache?
    private let scripts: ProxyScripts
    private let vaultWork: VaultWork
    private let thread: NamedThread
    let ended: EndGate
    /// Held while what the supervisor has left is ended.
    private let closing = PlainMutex()
    private let defaultGrace: Duration
    /// What counts as one host.
    let politenessKey: HostPoliteness.Key
    let segment: SharedSegment
    let meter: BandwidthMeter
    let callerCounts: CallerCounts
    /// What the engine leaves at its end.
    let last: LastSnapshot
    /// What a metrics system has been told of it.
    package let toldTotals = ToldTotals()
    /// Numbers of those who follow how many fetches there are.
    let activityNumbers = Atomic<UInt64>(0)
    /// Fetches with a handle so far.
    private let fetchNumbers = Atomic<UInt64>(0)
    /// Who tells others; nil when nobody is told anything.
    let watcher: Watcher?
    /// Why there is no status socket although there should be one; nil when there is, or should be none.
    public let statusSocketProblem: FetchError?
    let shares: BandwidthShares
    let network: CoordinatorNetwork
    /// The limit of all fetches together.
    let bandwidth: BandwidthRule
    private let hstsFile: String?
    private let hstsLoss = Guarded<FetchError?>(nil)

    /// Starts the workers.
    ///
    /// It does not wait for them: where none turns out to work, fetches fail with ``FetchError/Code/engineDown``.
    ///
    /// - Throws: ``FetchError/Code/engineDown`` when there is no program to be started as a worker, or no room for what
    ///   the engine needs; ``FetchError/Code/badRequest`` when the configuration makes no sense;
    ///   ``FetchError/Code/file`` when an output directory, or a file or socket that it names, cannot be used;
    ///   ``FetchError/Code/storeUnusable`` when a cache that is required cannot be opened.
    public init(_ configuration: Configuration = .default) throws(FetchError) {
        if let problem = configuration.problem() { throw FetchError(.badRequest, problem) }
        shelf = CacheShelf(configuration)
        programCache = configuration.downloadCache.map { ProgramCache($0, configuration) }
        state = StateShelf(configuration, sessionID: shelf.sessionID)
        cookieSettings = CookieSettings(configuration, state: state)
        planner = FetchPlanner(configuration: configuration, shelf: shelf, cookies: cookieSettings, state: state)
        defaultGrace = configuration.shutdownGrace
        politenessKey = configuration.politeness.key
        hstsFile = configuration.usesHSTS ? configuration.hstsFile : nil
        if let hstsFile { try planner.secureHosts.read(hstsFile) }
        let ended = EndGate()
        self.ended = ended
        do throws(SystemError) {
            mailbox = try Mailbox()
        } catch {
            throw FetchError(.engineDown, "\(error)", cause: .system(error.errno))
        }
        let start = try SupervisorStart(configuration, mailbox: mailbox, planner: planner, credentialState)
        scripts = start.scripts
        vaultWork = start.vaultWork
        segment = start.segment
        meter = start.meter
        // What can fail comes before whatever has a thread: nothing runs when this throws.
        (watcher, statusSocketProblem) = try Watcher.prepared(configuration, mailbox, start.lastSnapshot)
        do throws(FetchError) {
            // The last of it: an open store has threads.
            try shelf.openRequired()
        } catch {
            watcher?.end()
            throw error
        }
        bandwidth = BandwidthRule(configuration, segment)
        if bandwidth.meteredLimit != nil {
            let (watch, bandwidth) = (start.network.watch, bandwidth)
            // At once, so that the first bytes count; then with each change, until the supervisor ends.
            bandwidth.note(watch.path.status)
            _ = watch.observe { bandwidth.note($0.status) }
        }
        callerCounts = start.callerCounts
        last = start.lastSnapshot
        shares = start.shares
        network = start.network
        do throws(SystemError) {
            // Before the engine, which could not be taken back: who asks too early waits.
            try watcher?.start()
            thread = try NamedThread.start(name: "trawl-supervise") {
                var supervisor = Supervisor(start)
                supervisor.run()
                ended.open()
            }
        } catch {
            watcher?.end()
            start.network.stop()
            shelf.close()
            throw FetchError(.engineDown, "\(error)", cause: .system(error.errno))
        }
    }

    deinit {
        // Nothing when it was shut down, as it should have been; else the workers end without anybody waiting, and when
        // nobody uses them any more the stores are closed (`CacheShelf`, `StateShelf`).
        mailbox.post(.shutDown(grace: .zero))
        watcher?.end()
    }

    /// Why the last proxy script that could not be used could not; nil when there was none. Fetches went on without a
    /// proxy.
    public var proxyScriptProblem: FetchError? { scripts.problem }

    /// Fetches into memory and waits for the answer.
    ///
    /// Cancelling the task cancels the fetch.
    ///
    /// - Throws: Why there is no response; one of status 404 or 503 is returned.
    public func send(_ request: Request) async throws(FetchError) -> Response {
        try await send(request, into: .memory)
    }

    /// Fetches into a destination and waits for the answer.
    ///
    /// Cancelling the task cancels the fetch.
    /// - Parameter destination: Not ``Destination/stream``, whose pieces only ``start(_:into:)`` gives.
    /// - Throws: Why there is no response; one of status 404 or 503 is returned. ``FetchError/Code/badRequest`` for a
    ///   stream.
    public func send(_ request: Request, into destination: Destination) async throws(FetchError) -> Response {
        if destination == .stream { throw FetchError.unreadableStream }
        if destination == .memory, let cache = programCache(for: request.options) {
            return try await send(request, through: cache)
        }
        let plan = try planner.plan(request, into: destination, wantsEvents: false)
        if let answer = storedAnswer(to: plan) { return try answer.get() }
        let outcome = OutcomeCell()
        let running = RunningFetch(plan: plan, reply: .cell(outcome))
        submit(running)
        return try await answer(of: running, in: outcome)
    }

    /// The program's own cache, when a fetch into memory with these options uses it.
    private func programCache(for options: RequestOptions) -> ProgramCache? {
        guard let programCache, shelf.settings.isOn, options.caching.cache == .shared else { return nil }
        // What a server says to the owner of a certificate is for no other.
        let tls = options.tls
        return tls.identity == nil && tls.identities.isEmpty && !tls.asksForIdentity ? programCache : nil
    }

    /// Starts a fetch and returns its handle at once. A request that cannot be sent fails through the handle.
    ///
    /// - Parameters:
    ///   - decisions: Who decides for this fetch, in place of ``Configuration/decisions``.
    ///   - suspended: Whether nothing happens before ``Fetch/resume()``, as with the tasks of a URL session (ULS-LIFE-03).
    public func start(
        _ request: Request, into destination: Destination = .memory, decisions: (any FetchDecisions)? = nil,
        suspended: Bool = false
    ) -> Fetch {
        let channel = EventChannel(isHEAD: request.effectiveMethod == .head)
        let control = FetchControl(id: nextFetchID(), isSuspended: suspended)
        do throws(FetchError) {
            let plan = try planner.plan(request, into: destination, wantsEvents: true)
            let outcome = OutcomeCell()
            let running = RunningFetch(
                plan: plan, reply: .cell(outcome), channel: channel, decisions: decisions, control: control)
            channel.post(.started)
            submit(running)
            return Fetch(running, outcome: outcome, channel: channel, control: control, on: self)
        } catch {
            return Fetch(failed: error, channel: channel, control: control)
        }
    }

    /// A number that no fetch with a handle has had.
    func nextFetchID() -> UInt64 { fetchNumbers.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Fetches into a destination and blocks the calling thread until the answer is there.
    ///
    /// For command-line programs. Never on an event loop, the main actor or in a task: it stops whatever else that
    /// thread would do. Decisions and prompts are never asked for such a fetch.
    ///
    /// - Throws: As ``send(_:into:)``.
    @available(*, noasync, message: "use send(_:into:)")
    public func sendBlocking(_ request: Request, into destination: Destination = .memory) throws(FetchError) -> Response
    {
        if destination == .stream { throw FetchError.unreadableStream }
        let plan = try planner.plan(request, into: destination, wantsEvents: false)
        if let answer = storedAnswer(to: plan) { return try answer.get() }
        let outcome = OutcomeCell()
        submit(RunningFetch(plan: plan, reply: .cell(outcome), asksProgram: false))
        return try outcome.waitBlocking().get()
    }

    /// Ends the coordinator: no new fetch is taken, those waiting fail, those in flight may go on for the configured
    /// grace, then the workers are ended. Returns when no worker is left. May be called more than once.
    ///
    /// One that would be tried again (``RequestOptions/retry``) or wait for the network, because of what it came to
    /// meanwhile, fails with ``FetchError/Code/shutDown``, as those that wait already.
    public func shutdown(grace: Duration? = nil) async {
        mailbox.post(.shutDown(grace: grace ?? defaultGrace))
        await ended.wait()
        await vaultWork.finish()
        let closed = EndGate()
        // On a thread of its own: it waits for disks, and the caller may be the main actor.
        let closer = try? NamedThread.start(name: "trawl-close") { [self] in
            close()
            closed.open()
        }
        guard let closer else { return close() }
        await closed.wait()
        closer.join()
    }

    /// As ``shutdown(grace:)``, blocking the calling thread. Not from a log's handler (``Configuration/debugLog``), which
    /// runs on the engine's own thread: that would wait for itself, and traps.
    @available(*, noasync, message: "use shutdown(grace:)")
    public func shutdownBlocking(grace: Duration? = nil) {
        precondition(!thread.isCurrent, "the engine's own thread cannot wait for its end")
        mailbox.post(.shutDown(grace: grace ?? defaultGrace))
        ended.waitBlocking()
        vaultWork.finishBlocking()
        close()
    }

    /// Ends what the supervisor has left. Of several callers one does it, and the others return when it is done.
    private func close() {
        closing.holding {
            thread.join()
            watcher?.finish()
            state.close()
            saveSecureHosts()
            shelf.close()
        }
    }

    /// The program ends. On the engine's own thread, where a log's handler may have called `exit`, nothing can be
    /// waited for; the workers end as they do when their coordinator dies.
    func endWithProgram() {
        if !thread.isCurrent { shutdownBlocking(grace: .zero) }
    }

    /// Why ``Configuration/hstsFile`` could not be written at the shutdown, when it could not.
    public var secureHostsProblem: FetchError? { hstsLoss.withLock { $0 } }

    private func saveSecureHosts() {
        guard let hstsFile else { return }
        do throws(FetchError) {
            try planner.secureHosts.write(hstsFile)
        } catch {
            hstsLoss.withLock { $0 = error }
        }
    }

    /// Stops (SIGSTOP) or continues (SIGCONT) all workers: what a terminal's job control does to the coordinator.
    ///
    /// Workers are stopped between two writes to a store, since others wait for who is in the middle of one; from then
    /// on this process begins none either until they are continued. Blocks the calling thread until the signal is sent,
    /// so that the caller may stop itself next.
    package func signalWorkers(_ signal: Int32) {
        let done = WakeUpGate()
        func send() {
            if mailbox.post(.signalWorkers(signal, done)) { done.wait() }
        }
        if signal == SIGSTOP {
            shelf.betweenWrites { state.betweenWrites(send) }
        } else {
            Environment.resumeWrites()
            send()
        }
    }

    /// What the engine is doing, for a thread that may wait; nil when it is gone or had no time for an answer.
    func ask(patience: Duration) -> EngineSnapshot? { StatusQuestion.ask(mailbox, patience: patience) }

    /// - Returns: False when the supervisor is gone.
    @discardableResult
    func post(_ command: Mailbox.Command) -> Bool {
        mailbox.post(command)
    }

    func answer(of running: RunningFetch, in outcome: OutcomeCell) async throws(FetchError) -> Response {
        let answer = await withTaskCancellationHandler {
            await outcome.wait()
        } onCancel: {
            mailbox.post(.cancel(running))
        }
        return try answer.get()
    }

    func submit(_ running: RunningFetch) {
        if !mailbox.post(.submit(running)) { running.refuse() }
    }
}

/// Runs `body` with a coordinator and shuts it down at the end, however `body` ends. Fetches in flight may go on for
/// ``Configuration/shutdownGrace``; those that wait, and those that are not over by then, fail with
/// ``FetchError/Code/shutDown``.
///
/// - Throws: What ``Coordinator/init(_:)`` throws, and what `body` does.
public func withCoordinator<Value>(
    _ configuration: Configuration = .default, _ body: (Coordinator) async throws -> Value
) async throws -> Value {
    let coordinator = try Coordinator(configuration)
    do {
        let value = try await body(coordinator)
        await coordinator.shutdown()
        return value
    } catch {
        await coordinator.shutdown()
        throw error
    }
}
