import Glibc
import TrawlPlatform

/// The signals of a run, taken by a thread of their own.
///
/// `block()` comes before any other thread starts, so that none of them is ever interrupted. What arrives before
/// `watch` waits for it: questions as long as it takes, what ends the run not for long, since what is read until then,
/// such as a pipe that an option names, may not come for ever. The process then ends as it would without this, or with
/// the status of such a run; nothing was begun that had to be left in order.
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

    /// Those of this process, once there are any.
    private static let running = Guarded<Signals?>(nil)

    /// Blocks the signals in this thread and all it starts, and takes them from now on.
    static func block() -> Signals {
        start { $0.expect() }
    }

    /// The same for a run that has much to read before it begins: until `begin()` what ends it ends it at once.
    ///
    /// - Parameters:
    ///   - status: What the process ends with then, and when what is waited for in place of `watch` does not come.
    ///   - reloads: Whether SIGHUP will be for reading files again.
    static func block(endingWith status: Int32, reloads: Bool) -> Signals {
        start { $0.prepare(endingWith: status, reloads: reloads) }
    }

    /// Sees to it that signals that end or stop the process give the terminal back, also where no run takes them. Comes
    /// before other threads start, unless `block()` did.
    static func watchTerminal() {
        _ = start { _ in }
    }

    /// - Parameter prepare: Comes before the first signal is taken.
    private static func start(_ prepare: (SharedHandlers) -> Void) -> Signals {
        running.withLock { running in
            if let running {
                prepare(running.handlers)
                return running
            }
            let set = taken()
            var blocked = set
            pthread_sigmask(SIG_BLOCK, &blocked, nil)
            let handlers = SharedHandlers(ignoresHangUp: isIgnored(SIGHUP))
            prepare(handlers)
            var failure: SystemError?
            do throws(SystemError) {
                _ = try NamedThread.start(name: "trawl-signals", stackSize: 1 << 20) { take(set, handlers) }
            } catch {
                failure = error
            }
            let signals = Signals(handlers: handlers, failure: failure)
            running = signals
            return signals
        }
    }

    /// What ends a run or asks about it. Those that were ignored when the program started stay so, as under nohup;
    /// SIGHUP may be for reading files again even then.
    private static func taken() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGQUIT, SIGTSTP, SIGUSR1] where !isIgnored(signal) { sigaddset(&set, signal) }
        sigaddset(&set, SIGHUP)
        return set
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// All is read, and what is begun from now on has to be left in order: a signal waits for `watch`, which is near.
    func begin() { handlers.expect() }

    /// From now on signals are told, and those that have waited.
    ///
    /// - Parameters:
    ///   - stop: Called with the signal and how many have come.
    ///   - suspend: Called before this process stops, and after it was continued.
    ///   - status: Called at SIGUSR1.
    ///   - reload: Called at SIGHUP, which then does not stop, also when it was ignored.
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
            switch signal {
            case SIGUSR1:
                shared.get(orKeep: signal)?.status()
            case SIGTSTP:
                let handlers = shared.get()
                handlers?.suspend(true)
                TerminalHold.pause()
                stopProcess()
                TerminalHold.resume()
                handlers?.suspend(false)
            case SIGQUIT: die(of: signal)
            default:
                if signal == SIGHUP, shared.keepsHangUp() { continue }
                let handlers = shared.awaited()
                if signal == SIGHUP {
                    if let reload = handlers?.reload {
                        reload()
                        continue
                    }
                    if shared.ignoresHangUp { continue }
                }
                guard let handlers else { endEarly(by: signal, with: shared.earlyStatus) }
                TerminalHold.endForGood()
                count += 1
                handlers.stop(signal, count)
            }
        }
    }

    /// Ends the process when nobody watches.
    private static func endEarly(by signal: Int32, with status: Int32?) -> Never {
        guard let status else { die(of: signal) }
        TerminalHold.endForGood(isDying: true)
        _exit(status)
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

    /// Ends the process by the signal, so that a shell sees what it was; the terminal is as it was before.
    static func die(of number: Int32) -> Never {
        TerminalHold.endForGood(isDying: true)
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
        private struct State {
            var handlers: Handlers?
            /// Whether there will be some soon.
            var isExpected = false
            /// What the process ends with when there are none; nil is the signal.
            var earlyStatus: Int32?
            /// Whether SIGHUP will be for reading files again.
            var reloads = false
            /// Signals that came too early for them.
            var kept: Set<Int32> = []
        }

        /// Whether SIGHUP was ignored when the program started.
        let ignoresHangUp: Bool
        private let state = Guarded(State())

        init(ignoresHangUp: Bool) { self.ignoresHangUp = ignoresHangUp }

        func set(_ handlers: Handlers) {
            let kept = state.withLock { state in
                state.handlers = handlers
                let kept = state.kept
                state.kept = []
                return kept
            }
            // Blocked in all threads: they are taken as if they came now.
            for signal in kept { kill(getpid(), signal) }
        }

        /// There will be some soon.
        func expect() { state.withLock { $0.isExpected = true } }

        /// There will be some, but what is read before may take long.
        func prepare(endingWith status: Int32, reloads: Bool) {
            state.withLock { state in
                state.earlyStatus = status
                state.reloads = reloads
            }
        }

        var earlyStatus: Int32? { state.withLock { $0.earlyStatus } }

        func get() -> Handlers? { state.withLock { $0.handlers } }

        /// Those there are; when there are none yet, the signal comes again once there are.
        func get(orKeep signal: Int32) -> Handlers? {
            state.withLock { state in
                if state.handlers == nil { state.kept.insert(signal) }
                return state.handlers
            }
        }

        /// Whether SIGHUP is for reading files again, but nothing can be done with them yet: then it comes again.
        func keepsHangUp() -> Bool {
            state.withLock { state in
                guard state.reloads, state.handlers == nil else { return false }
                state.kept.insert(SIGHUP)
                return true
            }
        }

        /// Waits for them, two seconds at most, when there will be some. Asked again and again: this is once in a run,
        /// if ever.
        func awaited() -> Handlers? {
            for _ in 0..<100 {
                let (handlers, isExpected) = state.withLock { ($0.handlers, $0.isExpected) }
                if handlers != nil || !isExpected { return handlers }
                usleep(20_000)
            }
            return nil
        }
    }
}
