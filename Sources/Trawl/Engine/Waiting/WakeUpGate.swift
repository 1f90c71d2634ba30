import Glibc

/// Blocks one thread until another opens the gate; for the blocking form of a fetch.
///
/// `@unchecked Sendable`: a POSIX semaphore may be posted and awaited from any thread, and it lives as long as this.
final class WakeUpGate: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() {
        sem_post(semaphore)
    }

    func wait() {
        while sem_wait(semaphore) != 0 {}
    }
}
