// For `timespec`, which LMDB's header brings into its own module.
import CTrawlLMDB
import Glibc
import TrawlHTTP

/// A value behind a mutex, with a condition to wait for.
///
/// `@unchecked Sendable`: the value is reached with the mutex held alone, and was handed over for good at `init`.
final class SignalledValue<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Changes the value; `signal` wakes all that wait.
    func update<Result>(_ body: (inout Value, () -> Void) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value) { pthread_cond_broadcast(condition) }
    }

    /// Waits until the value is as wanted.
    func wait(until isReached: (Value) -> Bool) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isReached(value) { pthread_cond_wait(condition, mutex) }
    }

    /// Runs `body` again after each signal, and at the instant it names, until it names none.
    func waiting(_ body: (inout Value) -> MonotonicInstant?) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while let instant = body(&value) {
            let seconds = min(instant.nanoseconds / 1_000_000_000, UInt64(Int32.max))
            var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(instant.nanoseconds % 1_000_000_000))
            pthread_cond_timedwait(condition, mutex, &time)
        }
    }
}
