import Glibc
import TrawlPlatform

/// The signals of a run, taken by a thread of their own.
///
/// `block()` comes before any other thread starts, so that none of them is ever interrupted; what arrives before
/// `watch` waits.
struct Signals: Sendable {
    /// What ends a run. Those that were ignored when the program started stay so, as under nohup.
    private let ending: [Int32]

    /// Blocks the signals in this thread and all it starts.
    static func block() -> Signals {
        let signals = Signals(ending: [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) })
        var set = signals.set
        pthread_sigmask(SIG_BLOCK, &set, nil)
        return signals
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in ending { sigaddset(&set, signal) }
        if !Self.isIgnored(SIGTSTP) { sigaddset(&set, SIGTSTP) }
        return set
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - stop: Called with the signal and how many have come.
    ///   - suspend: Called before this process stops, and after it was continued.
    func watch(
        stop: @escaping @Sendable (Int32, Int) -> Void, suspend: @escaping @Sendable (_ stopping: Bool) -> Void
    ) throws(SystemError) {
        let set = set
        _ = try NamedThread.start(name: "trawl-signals", stackSize: 1 << 18) {
            var set = set
            var count = 0
            while true {
                var signal: Int32 = 0
                guard sigwait(&set, &signal) == 0 else { continue }
                if signal == SIGTSTP {
                    suspend(true)
                    Self.stopProcess()
                    suspend(false)
                } else {
                    count += 1
                    stop(signal, count)
                }
            }
        }
    }

    /// Stops the whole process as the default of SIGTSTP does, and returns when it is continued.
    private static func stopProcess() {
        var only = sigset_t()
        sigemptyset(&only)
        sigaddset(&only, SIGTSTP)
        // Pending for this thread, and acted upon as soon as it is open. The kernel ignores it where nobody could
        // continue the process again.
        pthread_kill(pthread_self(), SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &only, nil)
        pthread_sigmask(SIG_BLOCK, &only, nil)
    }

    /// Ends the process by the signal, so that a shell sees what it was.
    static func die(of number: Int32) -> Never {
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        pthread_kill(pthread_self(), number)
        _exit(128 + number)
    }
}
