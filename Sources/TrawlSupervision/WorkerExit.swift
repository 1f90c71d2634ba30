/// How a worker process ended, as the driver read it from the kernel.
package enum WorkerExit: Sendable, Hashable {
    /// The process called `exit`; see ``WorkerExitStatus`` for the statuses that mean something.
    case exited(status: Int32)
    /// A signal ended the process, and it was neither ours nor the kernel's OOM killer's.
    case signalled(signal: Int32)
    /// The kernel's OOM killer chose this process (told from a counter of the control group, not from the signal).
    case outOfMemory
    /// The coordinator ended the process.
    case killedByUs(KillReason)
    /// The process is gone and its status could not be read.
    case unknown

    /// Whether somebody else sent a signal that ended it, for reasons of their own.
    package var isFromOutside: Bool {
        if case .signalled = self { return !isCrash }
        return false
    }

    /// Whether what the worker was doing may be to blame, so that its hops become suspects.
    ///
    /// A signal that somebody sent from outside (`kill -9`, a service manager's TERM) says nothing about the hops.
    package var isCrash: Bool {
        switch self {
        case .exited(let status):
            return ![WorkerExitStatus.finished, WorkerExitStatus.shortage, WorkerExitStatus.cannotWork].contains(status)
        case .signalled(let signal):
            return LinuxSignal.isOwnFault(signal)
        case .outOfMemory, .unknown:
            return true
        case .killedByUs(let reason):
            switch reason {
            case .garbage, .silentHeartbeat: return true
            case .shortage, .startDeadline, .shutdown, .retired: return false
            }
        }
    }
}

/// Why the coordinator ended a worker.
package enum KillReason: Sendable, Hashable {
    /// It sent a frame that breaks the protocol.
    case garbage
    /// What it sent could not be taken, for want of descriptors or memory on this side.
    case shortage
    /// Its heartbeat stood still while the supervisor ran on time.
    case silentHeartbeat
    /// It did not say that it is ready in time.
    case startDeadline
    /// The coordinator shuts down and the worker did not drain in time.
    case shutdown
    /// Its slot was given up while it ran.
    case retired
}

/// Exit statuses by which a worker says more than that it failed.
///
/// Every other status is a crash, or a failed start when the worker was not ready yet. 126 and 127 (a shell or the
/// dynamic loader could not load the program) are among those: they can pass, so the slot tries again with backoff.
package enum WorkerExitStatus {
    /// Drained, or the control socket closed. Before the worker was ready this is a failed start all the same.
    package static let finished: Int32 = 0
    /// `EX_OSERR`: it had no descriptor or memory for what it was sent.
    package static let shortage: Int32 = 71
    /// `EX_CONFIG`: the protocol version, build or segment layout does not fit. The slot is retired at once.
    package static let cannotWork: Int32 = 78
}

/// Signal numbers of Linux on every architecture Swift supports there.
enum LinuxSignal {
    static let kill: Int32 = 9
    static let terminate: Int32 = 15

    /// Signals that a program's own instructions or limits raise: ILL, TRAP, ABRT, BUS, FPE, SEGV, PIPE, STKFLT,
    /// XCPU, XFSZ, SYS. All others come from outside.
    static func isOwnFault(_ signal: Int32) -> Bool {
        switch signal {
        case 4, 5, 6, 7, 8, 11, 13, 16, 24, 25, 31: return true
        case _: return false
        }
    }
}
