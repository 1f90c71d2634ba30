import TrawlPlatform

/// What the transfer thread leaves to another, because it waits for disks: one thing after the other, on a thread that
/// ends when nothing is left.
///
/// Bound to the transfer thread.
final class BackgroundWork {
    private final class Queue: Sendable {
        private struct State {
            var tasks: [@Sendable () -> Void] = []
            var isRunning = false
        }

        private let state = Guarded(State())

        /// - Returns: Whether somebody has to call `run`.
        func add(_ task: @escaping @Sendable () -> Void) -> Bool {
            state.withLock { state in
                state.tasks.append(task)
                defer { state.isRunning = true }
                return !state.isRunning
            }
        }

        func run() {
            while let task = next() { task() }
        }

        private func next() -> (@Sendable () -> Void)? {
            state.withLock { state in
                if state.tasks.isEmpty {
                    state.isRunning = false
                    return nil
                }
                return state.tasks.removeFirst()
            }
        }
    }

    private let name: StaticString
    private let queue = Queue()
    private var thread: NamedThread?

    /// - Parameter name: Of the thread.
    init(name: StaticString) {
        self.name = name
    }

    /// Has something done after all that was added before.
    func add(_ task: @escaping @Sendable () -> Void) {
        guard queue.add(task) else { return }
        // It has nothing left to do.
        thread?.join()
        thread = try? NamedThread.start(name: name) { [queue] in queue.run() }
        if thread == nil { queue.run() }
    }

    /// Waits until all of it is done.
    func finish() {
        thread?.join()
        thread = nil
    }
}
