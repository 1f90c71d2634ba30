import Glibc

/// A POSIX mutex that is held across calls that block: system calls, transactions, a caller's own code.
///
/// `Guarded` is for values and straight-line code; this is for work that must not run twice at once.
///
/// `@unchecked Sendable`: the mutex lives at one address from `init` to `deinit`.
final class PlainMutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The thread that has it; 0 when none. Written by that thread alone, so whoever reads its own identity is right.
    private let owner: UnsafeMutablePointer<UInt64>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        owner = .allocate(capacity: 1)
        owner.initialize(to: 0)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        owner.deallocate()
    }

    /// Whether the calling thread has it.
    var isMine: Bool { loadRelaxed(owner) == UInt64(pthread_self()) }

    /// Runs `body` while no other thread runs one; not from within a body.
    func holding<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        precondition(!isMine, "a write inside a write")
        pthread_mutex_lock(mutex)
        storeRelease(owner, UInt64(pthread_self()))
        defer {
            storeRelease(owner, 0)
            pthread_mutex_unlock(mutex)
        }
        return try body()
    }
}
