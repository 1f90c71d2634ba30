import CTrawlPlatform
import Glibc

/// How a child ended.
package enum ProcessExit: Equatable, Sendable {
    /// By itself, with this status.
    case exited(Int32)
    /// By this signal.
    case signalled(Int32)
    /// It is gone, but someone else took the status: the host ignores SIGCHLD or waits for any child.
    case unknown
}

/// One child process: a worker.
///
/// The owner watches `exitDescriptor` and calls `reap()` when it is readable; nobody else's children are touched.
package final class WorkerProcess: Sendable {
    /// The number of the control socket in the child.
    package static let controlNumber: Int32 = 3
    /// The number of the shared segment in the child.
    package static let segmentNumber: Int32 = 4

    /// For messages; it may belong to another process once this one is reaped.
    package let processID: Int32
    private let watched: Descriptor
    private let isLost: Bool
    private let exit = Guarded<ProcessExit?>(nil)

    private init(processID: Int32, watched: consuming Descriptor, isLost: Bool) {
        self.processID = processID
        self.watched = watched
        self.isLost = isLost
    }

    /// Readable once the process has ended; for a `Poller`. Valid while this object lives.
    package var exitDescriptor: Int32 { watched.rawValue }

    /// Starts an executable as a worker.
    ///
    /// It has /dev/null as input and output, the host's standard error (/dev/null when that is closed), the control
    /// socket as 3 and the segment as 4, and no other descriptor; a process group of its own; default dispositions and
    /// no blocked signal. Directory and umask are the host's. Any thread may call this at any time.
    ///
    /// - Parameters:
    ///   - executable: A path; it is not searched for.
    ///   - arguments: All, the name of the program first.
    ///   - environment: All of it.
    ///   - control: The child's end of the control socket. It stays the caller's, who should close it after this.
    ///   - segment: The shared segment, likewise.
    /// - Throws: What kept the executable from starting, such as `ENOENT` or `EACCES`.
    package static func spawn(
        executable: String, arguments: [String], environment: ProcessEnvironment,
        control: borrowing Descriptor, segment: borrowing Descriptor
    ) throws(SystemError) -> WorkerProcess {
        // From 10 up neither dup2 in the child can overwrite the other's source.
        let control = try control.duplicated(atLeast: 10)
        let segment = try segment.duplicated(atLeast: 10)
        // A close-on-exec descriptor in the place of standard error is some library's own, opened after a closed
        // stderr.
        let inheritsStandardError: Int32 = cplatform_is_close_on_exec(2) == 0 ? 1 : 0

        let path = try CStrings([Array(executable.utf8CString)])
        let arguments = try CStrings(arguments.map { Array($0.utf8CString) })
        let environment = try CStrings(environment.entries)
        var processID: Int32 = 0
        let result = cplatform_spawn(
            path.first, arguments.pointers, environment.pointers, control.rawValue, segment.rawValue,
            inheritsStandardError, &processID)
        withExtendedLifetime((path, arguments, environment)) {}
        _ = try check(result, "posix_spawn")
        return try watch(processID)
    }

    private static func watch(_ processID: Int32) throws(SystemError) -> WorkerProcess {
        let opened = cplatform_pidfd_open(processID)
        if opened >= 0 {
            let watched = try Descriptor.adopt(opened, "pidfd_open")
            // Where the host reaps our children, the number may already be another process's: not our child, not ours
            // to signal.
            var status: Int32 = 0
            if cplatform_reap(watched.rawValue, 1, &status) != -ECHILD {
                return WorkerProcess(processID: processID, watched: watched, isLost: false)
            }
        } else if opened != -ESRCH {
            // No descriptor left, or no pidfds at all: do not leave a child behind that nobody watches.
            _ = cplatform_kill_and_wait(processID)
            throw SystemError(errno: -opened, call: "pidfd_open")
        }
        let ended = try Descriptor.adopt(cplatform_eventfd(1), "eventfd")
        return WorkerProcess(processID: processID, watched: ended, isLost: true)
    }

    /// Sends a signal to the process, never to another one that got its number.
    ///
    /// - Returns: Whether it was still there.
    @discardableResult
    package func signal(_ signal: Int32) throws(SystemError) -> Bool {
        if isLost { return false }
        let result = cplatform_pidfd_signal(watched.rawValue, signal)
        if result == -ESRCH { return false }
        _ = try check(result, "pidfd_send_signal")
        return true
    }

    /// Sends a signal to the process and all it started that stayed in its group, unless its end was taken already.
    package func signalGroup(_ signal: Int32) {
        // Its number is nobody else's as long as its end was not taken.
        if (try? self.signal(0)) == true { kill(-processID, signal) }
    }

    /// Whether it runs: it has neither ended nor been stopped by a signal.
    package var isRunning: Bool {
        !isLost && cplatform_is_stopped(watched.rawValue) == 0 && (try? reap()) == .some(.none)
    }

    /// Takes the exit, without waiting for it.
    ///
    /// - Returns: `nil` while the process runs; the same exit each time once it has ended.
    package func reap() throws(SystemError) -> ProcessExit? {
        let outcome: Result<ProcessExit?, SystemError> = exit.withLock { exit in
            if exit == nil {
                switch look() {
                case .success(let found): exit = found
                case .failure(let error): return .failure(error)
                }
            }
            return .success(exit)
        }
        return try outcome.get()
    }

    private func look() -> Result<ProcessExit?, SystemError> {
        if isLost { return .success(.unknown) }
        var value: Int32 = 0
        switch cplatform_reap(watched.rawValue, 0, &value) {
        case Int32(cplatform_exit_none): return .success(nil)
        case Int32(cplatform_exit_status): return .success(.exited(value))
        case Int32(cplatform_exit_signal): return .success(.signalled(value))
        // ECHILD comes only after the end: a running child is ours even when SIGCHLD is ignored.
        case -ECHILD: return .success(.unknown)
        case let error: return .failure(SystemError(errno: -error, call: "waitid"))
        }
    }
}

/// A null-terminated array of C strings.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    /// - Parameter strings: Each with its zero.
    init(_ strings: [[CChar]]) throws(SystemError) {
        // Another zero would silently cut the string.
        if strings.contains(where: { $0.dropLast().contains(0) }) {
            throw SystemError(errno: EINVAL, call: "posix_spawn")
        }
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        pointers.initialize(repeating: nil, count: count + 1)
        for (index, string) in strings.enumerated() {
            guard let copy = strdup(string) else { throw SystemError(errno: ENOMEM, call: "strdup") }
            pointers[index] = copy
        }
    }

    var first: UnsafeMutablePointer<CChar>? { pointers[0] }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}
