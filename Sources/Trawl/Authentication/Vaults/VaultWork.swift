import TrawlPlatform

/// What a vault has been asked and told, each in a task of its own, so that a shutdown can wait for it: a helper's
/// process must not outlive the program that started it, and what is to be kept for good must get there.
final class VaultWork: Sendable {
    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var last: UInt64 = 0
    }

    /// How long a shutdown waits: as long as a helper may take.
    private let patience: Duration
    /// How long what was given up may take to end.
    private let lastPatience: Duration
    private let state = Guarded(State())

    init(patience: Duration = .seconds(10), lastPatience: Duration = .seconds(1)) {
        self.patience = patience
        self.lastPatience = lastPatience
    }

    /// Begins something that ends early when its task is cancelled.
    @discardableResult
    func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        // Under the lock, so that it is known before it can end.
        state.withLock { state in
            state.last += 1
            let number = state.last
            let task = Task { [self] in
                await body()
                self.state.withLock { $0.tasks[number] = nil }
            }
            state.tasks[number] = task
            return task
        }
    }

    /// Waits until all of it is over, and gives up what takes too long.
    func finish() async {
        let done = EndGate()
        if end({ done.open() }) { await done.wait() }
    }

    /// As ``finish()``, blocking the calling thread.
    func finishBlocking() {
        let done = WakeUpGate()
        if end({ done.open() }) { done.wait() }
    }

    /// - Parameter done: Called when it is over, once or twice.
    /// - Returns: False when there is nothing to wait for.
    private func end(_ done: @escaping @Sendable () -> Void) -> Bool {
        let tasks = state.withLock { Array($0.tasks.values) }
        if tasks.isEmpty { return false }
        let (patience, lastPatience) = (patience, lastPatience)
        let limit = Task {
            do {
                try await Task.sleep(for: patience)
            } catch {
                return
            }
            for task in tasks { task.cancel() }
            // A helper ends when it is killed; a vault that heeds nothing is left to itself.
            try? await Task.sleep(for: lastPatience)
            done()
        }
        Task {
            for task in tasks { await task.value }
            limit.cancel()
            done()
        }
        return true
    }
}
