import Synchronization
import TrawlPlatform

/// What the store threads have committed, for the transfer thread.
final class CommitLog: Sendable {
    private struct State {
        var last: UInt64 = 0
        var done: [(commit: UInt64, isStored: Bool)] = []
        /// How many of them are the cache's.
        var ofCache = 0
        var wake: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())
    /// Whether something lies there. Changed under the lock, and read without it: in each turn of a loop whose transfers
    /// mostly use no cache. It is set before the wake-up, so who was woken sees it.
    private let hasSome = Atomic(false)

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
    ///
    /// - Parameter isOfCache: Whether the cache asked for it; else it is about a user.
    func add(_ commit: UInt64, isStored: Bool, isOfCache: Bool = false) {
        state.withLock { state in
            state.done.append((commit, isStored))
            if isOfCache { state.ofCache += 1 }
            hasSome.store(true, ordering: .releasing)
            if state.done.count == 1 { state.wake?() }
        }
    }

    /// Takes what was committed since the last call.
    ///
    /// - Parameter commits: What was taken before; its memory is used for what comes.
    /// - Returns: How many of them are the cache's.
    func take(into commits: inout [(commit: UInt64, isStored: Bool)]) -> Int {
        if !commits.isEmpty { commits.removeAll(keepingCapacity: true) }
        guard hasSome.load(ordering: .acquiring) else { return 0 }
        return state.withLock { state in
            swap(&state.done, &commits)
            hasSome.store(false, ordering: .relaxed)
            defer { state.ofCache = 0 }
            return state.ofCache
        }
    }
}
