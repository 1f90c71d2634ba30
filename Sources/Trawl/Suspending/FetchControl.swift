import TrawlPlatform

/// What the caller of a fetch says about it while it runs: the handle's side and the supervisor's share it.
///
/// Suspensions nest: a fetch goes on when it was resumed as often as it was suspended. One of a queue then waits for
/// its turn.
final class FetchControl: Sendable {
    private struct Values {
        var suspensions: Int
        var priority: Double
        var awaitsTurn = false
        var isCancelled = false
        var awaitsWorker = false
        var notes = Notes()
    }

    /// The program's own.
    struct Notes {
        var label: String?
        var tag = 0
        var userInfo: [String: any Sendable] = [:]
    }

    /// Unique among the fetches of a coordinator.
    let id: UInt64
    private let values: Guarded<Values>

    init(id: UInt64, isSuspended: Bool = false, priority: Double = 0.5) {
        self.id = id
        values = Guarded(Values(suspensions: isSuspended ? 1 : 0, priority: priority))
    }

    /// Whether nothing of the fetch may happen.
    var isHeld: Bool { values.withLock { $0.suspensions > 0 || $0.awaitsTurn } }
    /// Whether its caller has suspended it.
    var isSuspended: Bool { values.withLock { $0.suspensions > 0 } }
    var isCancelled: Bool { values.withLock { $0.isCancelled } }

    /// - Returns: Whether it went on before.
    func suspend() -> Bool {
        values.withLock { values in
            values.suspensions += 1
            return values.suspensions == 1
        }
    }

    /// Takes one suspension back; does nothing when there is none.
    ///
    /// - Returns: Whether it was the last.
    func resume() -> Bool {
        values.withLock { values in
            guard values.suspensions > 0 else { return false }
            values.suspensions -= 1
            return values.suspensions == 0
        }
    }

    /// Whether it has given its place in a queue to others. Bound to the lock of that queue.
    var awaitsTurn: Bool {
        get { values.withLock { $0.awaitsTurn } }
        set { values.withLock { $0.awaitsTurn = newValue } }
    }

    /// - Parameter awaitsWorker: Whether the answer is to come only when the worker has stopped.
    func noteCancelled(awaitsWorker: Bool = false) {
        values.withLock { values in
            values.isCancelled = true
            if awaitsWorker { values.awaitsWorker = true }
        }
    }

    /// Whether it was cancelled so that what the hop in flight took is known at its end.
    var awaitsWorker: Bool { values.withLock { $0.awaitsWorker } }

    var priority: Double {
        get { values.withLock { $0.priority } }
        set { values.withLock { $0.priority = newValue } }
    }

    var notes: Notes { values.withLock { $0.notes } }

    func note(_ change: (inout Notes) -> Void) {
        let old = values.withLock { values in
            let old = values.notes
            change(&values.notes)
            return old
        }
        // What was there is the program's, and let go of outside of the lock.
        withExtendedLifetime(old) {}
    }
}
