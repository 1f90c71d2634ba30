import TrawlPlatform

/// What the store threads have committed, for the transfer thread.
final class CommitLog: Sendable {
    private struct State {
        var last: UInt64 = 0
        var done: [(commit: UInt64, isStored: Bool)] = []
        var wake: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    /// Calls `wake`, on a store thread, when there is something to take and there was nothing before; nil calls nobody.
    ///
    /// - Parameter wake: Does not wait. It is called under the lock, so that it never is once it was taken back here.
    func onCommit(_ wake: (@Sendable () -> Void)?) {
        state.withLock { $0.wake = wake }
    }

    /// A number for a commit to come.
    func next() -> UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    /// A commit is done.
    func add(_ commit: UInt64, isStored: Bool) {
        state.withLock { state in
            state.done.append((commit, isStored))
            if state.done.count == 1 { state.wake?() }
        }
    }

    /// What was committed since the last call.
    func take() -> [(commit: UInt64, isStored: Bool)] {
        state.withLock { state in
            if state.done.isEmpty { return [] }
            defer { state.done = [] }
            return state.done
        }
    }
}
