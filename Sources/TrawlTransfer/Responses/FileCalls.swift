import Synchronization

/// Whether the transfer thread is in a call on the file of a body, for another thread to see.
///
/// Such a call takes as long as the file's system does: what was not written yet goes to a disk or a server on syncing
/// and, on network file systems, on closing (close(2), "Dealing with error returns from close()"); and every call waits
/// for a server that does not answer (nfs(5), `hard`).
package final class FileCalls: Sendable {
    /// How many calls have begun and ended, so odd in one. Only the transfer thread changes it.
    private let steps = Atomic<UInt64>(0)

    /// A thread in no call.
    package init() {}

    /// A call begins, on the transfer thread, which is in none.
    package func begin() { step() }

    /// The call is over.
    package func end() { step() }

    /// The number of the call that the thread is in; nil when it is in none. From any thread.
    package var current: UInt64? {
        let steps = steps.load(ordering: .relaxed)
        return steps.isMultiple(of: 2) ? nil : steps
    }

    /// How many calls have ended. From any thread.
    package var ended: UInt64 { steps.load(ordering: .relaxed) / 2 }

    private func step() {
        steps.store(steps.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
}
