import Glibc
import TrawlHTTP

/// The lock of a whole file that one has at a time, in all processes: flock(2).
///
/// It is the open file that has it, so every copy of the descriptor holds it. A process that is just being started has
/// copies of all descriptors until it executes its program: a lock that goes by closing may be held a moment longer.
package enum FileLock {
    /// How long a lock is waited for that nobody keeps, but one who is being started or killed may have for a moment.
    package static let moment = Duration.seconds(1)

    /// Takes the lock.
    ///
    /// - Parameters:
    ///   - file: An open file or directory.
    ///   - patience: How long others are waited for; the thread blocks meanwhile.
    /// - Returns: Zero, or `errno`: `EWOULDBLOCK` when another has it, `ENOLCK` or `EOPNOTSUPP` where there are no locks.
    @discardableResult
    package static func take(_ file: Int32, within patience: Duration = .zero) -> Int32 {
        if flock(file, LOCK_EX | LOCK_NB) == 0 { return 0 }
        var number = errno
        let end = MonotonicClock.now().advanced(by: patience)
        var pause = Duration.microseconds(100)
        while number == EWOULDBLOCK || number == EINTR, MonotonicClock.now() < end {
            MonotonicClock.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(10))
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return 0 }
            number = errno
        }
        return number
    }

    /// Lets go of the lock for all who have a copy of the descriptor; for a file that nobody was given one of.
    package static func release(_ file: Int32) {
        flock(file, LOCK_UN)
    }
}
