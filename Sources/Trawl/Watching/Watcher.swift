import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlWatch

/// The thread that tells others what a coordinator is doing: at its status socket and in its metrics file.
///
/// Whoever is to be told is its matter alone. The engine makes a snapshot when it is asked, at most ten a second, and
/// waits for nobody: a client that reads slowly or not at all holds up neither it nor, for long, the others.
final class Watcher: Sendable {
    /// Clients that are being told at a time; others wait to be taken.
    static let mostClients = 32
    /// How long a client may take to read.
    static let patience = Duration.seconds(2)
    /// How long a snapshot is good for those that ask after it was made.
    static let freshness = Duration.milliseconds(100)
    /// How long the engine may take for a snapshot: less than a client waits.
    static let engineTime = Duration.milliseconds(2500)

    /// Where it listens; nil for nowhere.
    let listener: StatusListener?
    private let metrics: MetricsFile?
    private let mailbox: Mailbox
    private let stop: WakeUp
    /// What the supervisor left at its end.
    private let last: LastSnapshot
    private let problem = Guarded<FetchError?>(nil)
    private let thread = Guarded<NamedThread?>(nil)

    /// What is prepared here has no thread yet.
    init(_ listener: StatusListener?, _ metrics: MetricsFile?, _ mailbox: Mailbox, _ last: LastSnapshot)
        throws(SystemError)
    {
        self.listener = listener
        self.metrics = metrics
        self.mailbox = mailbox
        self.last = last
        stop = try WakeUp()
    }

    /// The watcher that a configuration asks for, if it does.
    ///
    /// - Returns: It, and why it has no socket where it should have one but need not.
    /// - Throws: ``FetchError/Code/file`` when a socket or file that is asked for by name cannot be made.
    static func prepared(
        _ configuration: Configuration, _ mailbox: Mailbox, _ last: LastSnapshot
    ) throws(FetchError) -> (Watcher?, FetchError?) {
        var listener: StatusListener?
        var problem: FetchError?
        switch configuration.statusSocket {
        case .none: break
        case .standard:
            do throws(SystemError) {
                listener = try StatusListener.standard()
            } catch {
                problem = .file(StatusSocket.directories.last ?? "", error.errno)
            }
        case .path(let path):
            do throws(SystemError) {
                listener = try StatusListener.at(path)
            } catch {
                throw .file(path, error.errno)
            }
        }
        guard listener != nil || configuration.metricsFile != nil else { return (nil, problem) }
        do throws(SystemError) {
            let watcher = try Watcher(listener, configuration.metricsFile, mailbox, last)
            try watcher.begin()
            return (watcher, problem)
        } catch {
            listener?.close()
            throw .file(configuration.metricsFile?.path ?? listener?.path ?? "", error.errno)
        }
    }

    /// Writes metrics of nothing: a file that cannot be written is known before anything is fetched.
    private func begin() throws(SystemError) {
        guard let metrics else { return }
        let report = StatusReport(program: "", process: getpid())
        let counts = EngineCounts(measuresTimes: true)
        try metrics.write(EngineSnapshot(report: report, counts: counts, startedAt: WallClock.now().seconds))
    }

    /// Starts the thread.
    func start() throws(SystemError) {
        let poller = try Poller()
        try poller.add(stop.rawValue, token: WatchRound.stopToken, interest: .read)
        if let listener { try poller.add(listener.socket.rawValue, token: WatchRound.listenerToken, interest: .read) }
        let started = try NamedThread.start(name: "trawl-watch", stackSize: 1 << 18) { [self] in
            var round = WatchRound(
                poller, listener, nextWrite: metrics.map { MonotonicClock.now().advanced(by: $0.interval) })
            round.run(self)
        }
        thread.withLock { $0 = started }
    }

    /// Why the metrics file could not be written the last time; nil when it could.
    var metricsProblem: FetchError? { problem.withLock { $0 } }

    /// A snapshot of now.
    func ask() -> EngineSnapshot? { StatusQuestion.ask(mailbox, patience: Self.engineTime) }

    /// When the metrics are to be written again after now; nil is never.
    func nextWrite(after now: MonotonicInstant) -> MonotonicInstant? {
        metrics.map { now.advanced(by: $0.interval) }
    }

    /// Writes the metrics.
    func write(_ snapshot: EngineSnapshot?) {
        guard let metrics, let snapshot else { return }
        var failure: FetchError?
        do throws(SystemError) {
            try metrics.write(snapshot)
        } catch {
            failure = .file(metrics.path, error.errno)
        }
        problem.withLock { [failure] in $0 = failure }
    }

    /// Ends the thread, without waiting for it: nobody is served any more.
    func end() {
        listener?.close()
        stop.signal()
    }

    /// Ends the thread once the supervisor is gone, and writes the metrics a last time. Once.
    func finish() {
        end()
        guard let thread = thread.withLock({ $0.take() }) else { return }
        thread.join()
        write(last.snapshot.withLock { $0 })
    }
}

/// What the supervisor leaves for those that look on.
final class LastSnapshot: Sendable {
    let snapshot = Guarded<EngineSnapshot?>(nil)
}
