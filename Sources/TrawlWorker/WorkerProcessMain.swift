import Glibc
import TrawlPlatform

/// A worker as a process of its own, as `trawl-worker` and as the hidden `trawl worker`.
package enum WorkerProcessMain {
    /// `EX_USAGE`: not started by a coordinator.
    private static let usage: Int32 = 64

    /// Runs on the descriptors the coordinator left, and returns the exit status.
    package static func run() -> Int32 {
        let control = WorkerProcess.controlNumber
        let segment = WorkerProcess.segmentNumber
        var info = stat()
        guard fstat(control, &info) == 0, info.st_mode & S_IFMT == S_IFSOCK, fstat(segment, &info) == 0,
            info.st_mode & S_IFMT == S_IFREG, let control = try? Descriptor.inherited(control),
            let segment = try? Descriptor.inherited(segment)
        else {
            let text = """
                This is a worker process of trawl. A coordinator starts it, with a control socket as descriptor 3 and
                shared memory as descriptor 4; by hand it does nothing. Try: trawl --help

                """
            _ = text.withCString { write(2, $0, strlen($0)) }
            return usage
        }
        // Asks a coordinator for its status; sent to all processes of that name it must not end the workers.
        signal(SIGUSR1, SIG_IGN)
        // A file that may not become so long is an error of one body, and no end of this process.
        signal(SIGXFSZ, SIG_IGN)
        return Worker.run(control: control.release(), segment: segment.release(), isOwnProcess: true)
    }
}
