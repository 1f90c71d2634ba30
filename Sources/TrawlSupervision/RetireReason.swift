/// Why a slot was given up for the rest of the coordinator's life.
package enum RetireReason: Sendable, Hashable {
    /// The coordinator shut it down: by drain or by force.
    case shutdown
    /// The worker said that it cannot work here (``WorkerExitStatus/cannotWork``).
    case cannotWork
    /// The handshake showed a worker of another protocol version, build or segment layout.
    case incompatible
    /// The worker executable is not there or may not be run; the `errno` value.
    case cannotStart(errno: Int32)
    /// No generation was ever ready, or none any more, so what runs there is not a worker; the last of several
    /// failures.
    case neverReady(last: StartFailure)
}

/// Why one start of a worker did not lead to a ready worker.
package enum StartFailure: Sendable, Hashable {
    /// The process could not be made; the `errno` value.
    case spawn(errno: Int32)
    /// The process ended before it was ready.
    case exited(WorkerExit)
}

/// `errno` values of Linux that say the path of the executable is wrong, so trying again is of no use.
enum LinuxErrno {
    /// ENOENT, ENOEXEC, EACCES, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP.
    static func isWrongExecutable(_ errno: Int32) -> Bool {
        switch errno {
        case 2, 8, 13, 20, 21, 36, 40: return true
        case _: return false
        }
    }
}
