import Glibc
import Trawl
import TrawlPlatform

/// The signals that end a run: the first lets fetches in flight go on for a while, the second does not; the third
/// ends the process as it stands, and the next run goes on from there.
final class StopRequests: Sendable {
    /// How long a first signal lets fetches in flight go on, and then what came of them be written.
    static let drainTime = Duration.seconds(10)
    static let flushTime = Duration.seconds(2)

    let console: Console
    private let coordinator: Coordinator
    private let wake: @Sendable () -> Void
    private let received = Guarded(0)

    /// - Parameter wake: Called after each signal.
    init(_ coordinator: Coordinator, _ console: Console, wake: @escaping @Sendable () -> Void) {
        self.coordinator = coordinator
        self.wake = wake
        self.console = console
    }

    /// How many signals have come.
    var count: Int { received.withLock { $0 } }

    /// Takes the signals from now on.
    ///
    /// - Parameter reload: What is done at SIGHUP in place of ending.
    func watch(_ signals: Signals, reload: ConfigReload?) throws(SystemError) {
        let reloading = reload.map { reload in
            { @Sendable [coordinator, console] in reload.reload(for: coordinator, console) }
        }
        let stop = { @Sendable [self] (signal: Int32, count: Int) in
            // Whatever the coordinator's thread is held up by, such as a disk that does not answer.
            if count > 2 { Signals.die(of: signal) }
            received.withLock { $0 = count }
            // Fetches that wait are answered at once, those in flight when they end.
            coordinator.beginShutdown(grace: count > 1 ? .zero : Self.drainTime)
            wake()
        }
        let suspend = { @Sendable [coordinator] (stopping: Bool) in
            if stopping { StandardError.pause() } else { StandardError.resume() }
            coordinator.signalWorkers(stopping ? SIGSTOP : SIGCONT)
        }
        let status = { @Sendable [coordinator, console] in console.writeStatus(of: coordinator) }
        try signals.watch(stop: stop, suspend: suspend, status: status, reload: reloading)
    }
}
