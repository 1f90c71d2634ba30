import Glibc
import TrawlPlatform
import TrawlTransfer

/// The second thread of a worker's process, for the time in which its first is in a system call that does not return,
/// such as opening a certificate's file that is a pipe, or on a network file system that does not answer.
///
/// It ends a worker that cannot see that its coordinator is gone, and lets the heart of one beat that waits for the file
/// of a body.
final class OrphanWatch: Sendable {
    /// Microseconds the worker's own thread is given to see the same and leave in order. No worker outlives its
    /// coordinator by a second (POOL-04), and one that is shut down gets SIGTERM after as long.
    private static let grace: UInt32 = 700_000
    /// Milliseconds between two looks at what the worker's own thread is in: a small part of the silence for which a
    /// coordinator ends a worker.
    private static let interval: Int32 = 1_000

    /// Whose heart beats, once it has one.
    private struct Watched {
        let line: SharedWorkerLine
        let fileCalls: FileCalls
        private var pulse = FilePulse()

        init(line: SharedWorkerLine, fileCalls: FileCalls) {
            self.line = line
            self.fileCalls = fileCalls
        }

        mutating func look() {
            if pulse.beats(in: fileCalls.current) { line.beatForFile() }
        }
    }

    private let watched = Guarded<Watched?>(nil)

    private init() {}

    /// Watches from a thread of its own; without one the worker works all the same.
    ///
    /// - Parameter control: The control socket, open as long as the process runs.
    static func start(_ control: Int32) -> OrphanWatch {
        let watch = OrphanWatch()
        _ = try? NamedThread.start(name: "trawl-orphan", stackSize: 1 << 16) {
            watch.waitForEnd(of: control)
            usleep(grace)
            _exit(Worker.Status.finished)
        }
        return watch
    }

    /// From now on lets the heart of a worker beat while its transfer thread is in a call on a file.
    func beat(_ line: SharedWorkerLine, during fileCalls: FileCalls) {
        watched.withLock { $0 = Watched(line: line, fileCalls: fileCalls) }
    }

    private func waitForEnd(of control: Int32) {
        // No event is asked for: POLLHUP comes unasked, when nobody holds the other end.
        var socket = pollfd(fd: control, events: 0, revents: 0)
        while true {
            let count = poll(&socket, 1, Self.interval)
            if count == 0 {
                _ = watched.withLock { $0?.look() }
            } else if count > 0 || errno != EINTR {
                return
            }
        }
    }
}
