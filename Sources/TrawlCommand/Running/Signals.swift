import Glibc
import TrawlPlatform

/// The signals of a run, taken by a thread of their own.
///
/// `block()` comes before any other thread starts, so that none of them is ever interrupted. What arrives before `watch`
/// waits for it, but not for long: what is read until then, such as a pipe that an option names, may not come for ever. The process
/// then ends as it would without this; nothing was begun that had to be left in order.
struct Signals: Sendable {
    /// What is done at a signal.
    private struct Handlers: Sendable {
        let stop: @Sendable (Int32, Int) -> Void
        let suspend: @Sendable (_ stopping: Bool) -> Void
        let status: @Sendable () -> Void
        let reload: (@Sendable () -> Void)?
    }

    private let handlers: SharedHandlers
    /// Why there is no thread.
    private let failure: SystemError?

    /// Blocks the signals in this thread and all it starts, and takes them from now on.
    ///
    /// - Parameter reloads: Whether SIGHUP is for reading files again; then it is taken in any case.
    static func block(reloads: Bool = false) -> Signals {
        var set = taken()
        if reloads { sigaddset(&set, SIGHUP) }
        let all = set
        var blocked = set
        pthread_sigmask(SIG_BLOCK, &blocked, nil)
        let handlers = SharedHandlers()
        do throws(SystemError) {
            _ = try NamedThread.start(name: "trawl-signals", stackSize: 1 << 20) { take(all, handlers) }
            return Signals(handlers: handlers, failure: nil)
        } catch {
            return Signals(handlers: handlers, failure: error)
        }
    }

    /// What ends a run or asks about it. Those that were ignored when the program started stay so, as under nohup.
    private static func taken() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGUSR1] where !isIgnored(signal) { sigaddset(&set, signal) }
        return set
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// From now on signals are told.
    ///
    /// - Parameters:
    ///   - stop: Called with the signal and how many have come.
    ///   - suspend: Called before this process stops, and after it was continued.
    ///   - status: Called at SIGUSR1.
    ///   - reload: Called at SIGHUP, which then does not stop.
    /// - Throws: Why there is no thread that could.
    func watch(
        stop: @escaping @Sendable (Int32, Int) -> Void, suspend: @escaping @Sendable (_ stopping: Bool) -> Void,
        status: @escaping @Sendable () -> Void, reload: (@Sendable () -> Void)? = nil
    ) throws(SystemError) {
        if let failure { throw failure }
        handlers.set(Handlers(stop: stop, suspend: suspend, status: status, reload: reload))
    }

    /// Takes signals for ever.
    private static func take(_ set: sigset_t, _ shared: SharedHandlers) {
        var set = set
        var count = 0
        while true {
            var signal: Int32 = 0
            guard sigwait(&set, &signal) == 0 else { continue }
            if signal == SIGUSR1 {
                // Before there is anything to tell nothing is told.
                shared.get()?.status()
            } else if signal == SIGTSTP {
                let handlers = shared.get()
                handlers?.suspend(true)
                stopProcess()
                handlers?.suspend(false)
            } else {
                guard let handlers = shared.awaited() else { die(of: signal) }
                if signal == SIGHUP, let reload = handlers.reload {
                    reload()
                    continue
                }
                count += 1
                handlers.stop(signal, count)
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

    /// What `watch` gives to the thread.
    private final class SharedHandlers: Sendable {
        private let handlers = Guarded<Handlers?>(nil)

        func set(_ handlers: Handlers) { self.handlers.withLock { $0 = handlers } }

        func get() -> Handlers? { handlers.withLock { $0 } }

        /// Waits for them, two seconds at most. Asked again and again: this is once in a run, if ever.
        func awaited() -> Handlers? {
            for _ in 0..<100 {
                if let handlers = get() { return handlers }
                usleep(20_000)
            }
            return nil
        }
    }
}
