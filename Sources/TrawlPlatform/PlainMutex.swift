import Glibc
import Synchronization

/// A POSIX mutex that is held across calls that block: system calls, transactions, a caller's own code.
///
/// `Guarded` is for values and straight-line code; this is for work that must not run twice at once.
///
/// `@unchecked Sendable`: the mutex lives at one address from `init` to `deinit`.
package final class PlainMutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The thread that has it; 0 when none. Written by that thread alone, so whoever reads its own identity is right.
    private let owner = Atomic<UInt64>(0)

    /// One that nobody has.
    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Whether the calling thread has it.
    package var isMine: Bool { owner.load(ordering: .relaxed) == UInt64(pthread_self()) }

    /// Runs `body` while no other thread runs one; not from within a body.
    package func holding<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        precondition(!isMine, "work that must not run twice at once, within itself")
        pthread_mutex_lock(mutex)
        owner.store(UInt64(pthread_self()), ordering: .releasing)
        defer {
            owner.store(0, ordering: .releasing)
            pthread_mutex_unlock(mutex)
        }
        return try body()
    }
}
