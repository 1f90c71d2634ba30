import Glibc

/// A value that one thread at a time may touch, behind a POSIX mutex.
///
/// `Synchronization.Mutex` would do, but on Linux it spins where many threads meet, and the thread sanitizer does not
/// know it and reports every use; see docs/decisions/0008-guarded-values.md. Locks are held for straight-line code,
/// never across `await`, a callback or a call that can block.
///
/// `@unchecked Sendable`: the value is reached through `withLock` alone, and was handed over for good at `init`.
package struct Guarded<Value>: ~Copyable, @unchecked Sendable {
    /// Not one structure: where the value lies in it would be asked of its type at each use.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Guards a value nobody else keeps.
    package init(_ value: sending Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        // Glibc's default mutex cannot fail to be made.
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` on the value while no other thread does.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
