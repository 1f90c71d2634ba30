// TrawlWorker: one worker. It carries out leases and reports their ends; it decides nothing about fetches, opens files
// beneath the directories named at its start alone, and ends when its control socket does.

import Glibc
import TrawlPlatform
import TrawlProtocol
import TrawlTransfer

/// The life of one worker, from its handshake to its end.
package enum Worker {
    /// Runs a worker on the calling thread until the coordinator drains it or goes away.
    ///
    /// SIGPIPE stays blocked on that thread. libcurl must not be in use on other threads for the first time at this
    /// moment; its global state is set up here.
    ///
    /// - Parameters:
    ///   - control: The worker's end of the control socket, non-blocking. It is closed at the end.
    ///   - segment: The shared segment. It is closed at the end.
    ///   - isOwnProcess: Whether the process is a worker and nothing else, so that its limits and privileges may be
    ///     changed.
    ///   - longestWait: Milliseconds for which it waits at most where nothing happens.
    /// - Returns: An exit status: 0 drained or end of the control socket; 65 frames that make no sense; 70 a failure of
    ///   this program or its system, which may pass; 71 no descriptor or memory for what was sent; 78 a
    ///   coordinator of another version, or something that is not here.
    package static func run(
        control: Int32, segment: Int32, isOwnProcess: Bool, longestWait: Int32 = 250
    ) -> Int32 {
        let control = Descriptor(adopting: control)
        let segment = Descriptor(adopting: segment)
        if isOwnProcess { ProcessSetup.apply() }
        blockWriteSignals()
        let watch = isOwnProcess ? OrphanWatch.start(control.rawValue) : nil
        guard isOwnProcess ? GlobalLibcurl.setUpAlone() : GlobalLibcurl.isReady else {
            return withoutLibcurl()
        }
        var handshake = Handshake(control: control.rawValue)
        switch handshake.run(segment: segment) {
        case .failure(let status):
            return status
        case .success(let loop):
            watch?.beat(loop.counters, during: loop.fileCalls)
            var session = WorkerSession(
                control: control.rawValue, loop: loop, handshake: handshake, longestWait: longestWait)
            return session.run()
        }
    }

    private static func withoutLibcurl() -> Int32 {
        guard let problem = GlobalLibcurl.loadProblem else {
            complain("libcurl cannot be set up")
            return Status.internalError
        }
        complain("libcurl.so.4 with OpenSSL cannot be loaded; its Debian package is libcurl4 (\(problem))")
        return GlobalLibcurl.mayPass(problem) ? Status.internalError : Status.cannotWork
    }

    /// Says on standard error, which is the coordinator's, why this worker ends.
    static func complain(_ reason: String) {
        // Names of files may hold anything.
        let text = reason.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
        let line = Array("trawl worker: \(text)\n".utf8)
        _ = write(2, line, line.count)
    }

    /// Statuses after sysexits.h.
    enum Status {
        static let finished: Int32 = 0
        static let protocolViolation: Int32 = 65
        static let internalError: Int32 = 70
        static let shortage: Int32 = 71
        static let cannotWork: Int32 = 78
    }

    /// OpenSSL writes to closed sockets without asking for EPIPE, and a file size limit shall be an error, not an end.
    private static func blockWriteSignals() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
