import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// Fetches URLs one at a time on the main thread.
enum SequentialRun {
    /// What the signal thread needs to know of the fetch in flight.
    private final class Current: Sendable {
        struct State {
            var fetch: Fetch?
            var signal: Int32?
            var isOver = false
        }
        let state = Guarded(State())

        /// Names the fetch a signal ends; one that came before ends it at once.
        func set(_ fetch: Fetch?) {
            let isStopped = state.withLock { state in
                state.fetch = fetch
                return state.signal != nil
            }
            if isStopped { fetch?.cancel() }
        }

        func stop(_ signal: Int32) {
            state.withLock { state in
                if state.signal == nil { state.signal = signal }
                return state.fetch
            }?.cancel()
        }

        var signal: Int32? { state.withLock { $0.signal } }

        /// There are no more fetches: only validations may still be waited for.
        ///
        /// - Returns: Whether a signal has come.
        func end() -> Bool {
            state.withLock { state in
                state.isOver = true
                return state.signal != nil
            }
        }

        var isOver: Bool { state.withLock { $0.isOver } }
    }

    /// - Returns: The exit status.
    static func run(_ plan: GetPlan) throws(CommandError) -> Int32 {
        let source = try RequestSource(
            plan.requests, plan.list.map { path throws(CommandError) in try ListReader(path) }, .plain,
            rememberingIn: plan.directory)
        let heads = try plan.headFile.map { file throws(CommandError) in
            if LocalPath.isStandardOutput(file) { return BodyWriter.standardOutput() }
            do throws(SystemError) {
                // As in curl, an output directory is for bodies.
                return try BodyWriter.emptied(LocalPath.absolute(file))
            } catch {
                throw CommandError(file: file, error.errno, status: ExitStatus.cannotCreate)
            }
        }
        let signals = Signals.block()
        let console = Console(plan.report)
        console.note(plan.template.options.tls)
        let coordinator = try Coordinator.started(plan.configuration, console)
        try plan.cookieFiles?.load(into: coordinator, console)
        let kind = plan.report.progressKind(
            onTerminal: Terminal.isTerminal(STDERR_FILENO),
            sharesTerminal: plan.output == .standardOutput && Terminal.isTerminal(STDOUT_FILENO))
        let progress = ProgressDisplay(kind)
        let current = Current()
        let interrupt: WakeUp
        do throws(SystemError) {
            interrupt = try WakeUp()
            try signals.watch { signal, count in
                current.stop(signal)
                interrupt.signal()
                if current.isOver { coordinator.beginShutdown(grace: .zero) }
                // Writing to a pipe that nobody reads cannot be ended in a kinder way.
                if count > 1 { Signals.die(of: signal) }
            } suspend: { stopping in
                if stopping { StandardError.erase() }
                coordinator.signalWorkers(stopping ? SIGSTOP : SIGCONT)
            } status: {
                console.writeStatus(of: coordinator)
            }
        } catch {
            throw CommandError("\(error)", status: ExitStatus.engineDown)
        }
        var tally = RunTally()
        var names = FileNames(.lastPart, source, namesFromHeads: plan.namesFromHeads)
        var status = ExitStatus.success
        var warnings = RunWarnings()
        loop: while current.signal == nil, !tally.outputIsClosed, !tally.outputIsBroken {
            switch source.next(interrupt: interrupt.rawValue) {
            case .end, .wait: break loop
            case .nothing, .skipped: continue
            case .bad(let bad, let line, _):
                console.failure(source.place(line) + bad.reason.terminalSafe)
                tally.failed += 1
            case .unreadable(let message):
                console.failure(message)
                tally.failed += 1
                break loop
            case .request(let request, let line, _):
                var single = SingleFetch(
                    request, source.place(line), plan, coordinator, console, progress, heads: heads)
                status = single.run(names: &names) {
                    current.set($0)
                }
                current.set(nil)
                warnings.tell(coordinator, on: console)
                if status == ExitStatus.success { tally.succeeded += 1 } else { tally.failed += 1 }
                tally.outputIsClosed = single.outputIsClosed
                tally.outputIsBroken = single.outputIsBroken
                if status == ExitStatus.engineDown { tally.engineIsDown = true }
                if tally.engineIsDown { break loop }
            }
        }
        progress.finish()
        // Asked twice, it waits for nothing.
        if current.end() { coordinator.beginShutdown(grace: .zero) }
        coordinator.shutdownBlocking(grace: .zero)
        RunWarnings.tellLosses(of: coordinator, plan.configuration, on: console)
        plan.cookieFiles?.save(from: coordinator)
        if let signal = current.signal {
            if plan.isSingle { Signals.die(of: signal) }
            tally.wasStopped = true
        }
        return plan.isSingle && !tally.outputIsClosed ? status : tally.status
    }
}
