import Glibc
import TrawlPlatform

/// Ends a worker that cannot see that its coordinator is gone: its one thread may be in a system call that does not
/// return, such as opening a certificate's file that is a pipe, or on a network file system that does not answer.
enum OrphanWatch {
    /// Microseconds the worker's own thread is given to see the same and leave in order. No worker outlives its
    /// coordinator by a second (POOL-04), and one that is shut down gets SIGTERM after as long.
    private static let grace: UInt32 = 700_000

    /// Watches from a thread of its own; without one the worker works all the same.
    ///
    /// - Parameter control: The control socket, open as long as the process runs.
    static func start(_ control: Int32) {
        _ = try? NamedThread.start(name: "trawl-orphan", stackSize: 1 << 16) {
            var watched = pollfd(fd: control, events: 0, revents: 0)
            // No event is asked for: POLLHUP comes unasked, when nobody holds the other end.
            while poll(&watched, 1, -1) < 0, errno == EINTR {}
            usleep(grace)
            _exit(Worker.Status.finished)
        }
    }
}
