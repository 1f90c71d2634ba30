import TrawlHTTP
import TrawlPlatform

/// Brings commits to the disk, some time after that was asked for, many at once. On a thread of its own: the disk takes
/// as long as it takes, and no commit waits for it.
final class SyncThread: Sendable {
    private struct State {
        /// When what was committed goes to the disk.
        var deadline = MonotonicInstant.never
        var isStopping = false
    }

    private let delay: Duration
    private let sync: @Sendable () -> Bool
    private let state = SignalledValue(State())
    private let thread: Guarded<NamedThread?> = Guarded(nil)

    /// - Parameter sync: Brings all that was committed to the disk; false when the disk did not take it.
    init(delay: Duration, _ sync: @escaping @Sendable () -> Bool) {
        self.delay = delay
        self.sync = sync
    }

    /// Starts the thread. Once.
    func start() throws(SystemError) {
        let thread = try NamedThread.start(name: "trawl-sync") { [self] in run() }
        self.thread.withLock { $0 = thread }
    }

    /// What was committed until now is to be on the disk after the delay. From any thread; waits for nothing.
    func ask() {
        let deadline = MonotonicClock.now().advanced(by: delay)
        state.update { state, signal in
            guard state.deadline == .never else { return }
            state.deadline = deadline
            signal()
        }
    }

    /// Does at once what was asked for, and ends the thread. Nobody asks later. Once, if it was started at all.
    func stop() {
        state.update { state, signal in
            state.isStopping = true
            signal()
        }
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
    }

    private func run() {
        while true {
            let (isDue, isOver) = next()
            // A disk that does not take it now is asked again; what was committed is there for all processes.
            if isDue, !sync(), !isOver { ask() }
            if isOver { return }
        }
    }

    /// Waits until something is to be done, or the end has come.
    private func next() -> (isDue: Bool, isOver: Bool) {
        var isDue = false
        var isOver = false
        state.waiting { state -> MonotonicInstant? in
            isOver = state.isStopping
            isDue = isOver ? state.deadline != .never : state.deadline <= MonotonicClock.now()
            if isDue { state.deadline = .never }
            return isDue || isOver ? nil : state.deadline
        }
        return (isDue, isOver)
    }
}
