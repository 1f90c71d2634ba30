import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// Fetches URLs one at a time on the main thread.
struct SequentialRun {
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

    private let plan: GetPlan
    private let source: RequestSource
    /// Takes the heads for `-D`.
    private let heads: BodyWriter?
    private let console: Console
    private let coordinator: Coordinator
    private let progress: ProgressDisplay
    private let current: Current
    /// Ends waiting for the list.
    private let interrupt: WakeUp

    private var names: FileNames
    private var tally = RunTally()
    private var warnings = RunWarnings()
    /// Whether all that was to be fetched is over.
    private var isComplete = false
    /// curl's exit code of the last fetch.
    private var status = ExitStatus.success

    /// - Returns: The exit status.
    static func run(_ plan: GetPlan) throws(CommandError) -> Int32 {
        var run = try SequentialRun(plan)
        run.fetchAll()
        return run.end()
    }

    private init(_ plan: GetPlan) throws(CommandError) {
        self.plan = plan
        source = try RequestSource(
            plan.requests, plan.list.map { path throws(CommandError) in try ListReader(path) }, .plain,
            in: ScratchPlaces(results: nil, output: plan.directory))
        heads = try Self.headWriter(plan)
        let signals = Signals.block()
        console = Console(plan.report)
        console.note(plan.template.options.tls)
        plan.writeOut?.tellUnknown(on: console)
        coordinator = try Coordinator.started(plan.configuration, console)
        try plan.cookieFiles?.load(into: coordinator, console)
        let kind = plan.report.progressKind(
            onTerminal: Terminal.isTerminal(STDERR_FILENO),
            sharesTerminal: plan.output == .standardOutput && Terminal.isTerminal(STDOUT_FILENO))
        progress = ProgressDisplay(kind)
        current = Current()
        interrupt = try Self.watch(signals, current, coordinator, console)
        names = FileNames(.lastPart, source, namesFromHeads: plan.namesFromHeads)
    }

    private static func headWriter(_ plan: GetPlan) throws(CommandError) -> BodyWriter? {
        try plan.headFile.map { file throws(CommandError) in
            if LocalPath.isStandardOutput(file) { return BodyWriter.standardOutput() }
            do throws(SystemError) {
                // As in curl, an output directory is for bodies.
                return try BodyWriter.emptied(LocalPath.absolute(file))
            } catch {
                throw CommandError(
                    file: file, error.errno, status: ExitStatus.cannotCreate, curlStatus: ExitStatus.Curl.writeError)
            }
        }
    }

    /// Takes the signals of the run.
    ///
    /// - Returns: What is signalled when one has come that ends it.
    private static func watch(
        _ signals: Signals, _ current: Current, _ coordinator: Coordinator, _ console: Console
    ) throws(CommandError) -> WakeUp {
        do throws(SystemError) {
            let interrupt = try WakeUp()
            try signals.watch { signal, count in
                current.stop(signal)
                interrupt.signal()
                if current.isOver { coordinator.beginShutdown(grace: .zero) }
                // Writing to a pipe that nobody reads cannot be ended in a kinder way.
                if count > 1 { Signals.die(of: signal) }
            } suspend: { stopping in
                if stopping { StandardError.pause() } else { StandardError.resume() }
                coordinator.signalWorkers(stopping ? SIGSTOP : SIGCONT)
            } status: {
                console.writeStatus(of: coordinator)
            }
            return interrupt
        } catch {
            throw CommandError("\(error)", status: ExitStatus.engineDown)
        }
    }

    private mutating func fetchAll() {
        while current.signal == nil, !tally.isBrokenOff {
            switch source.next(interrupt: interrupt.rawValue) {
            case .wait: return
            case .end:
                isComplete = true
                return
            case .nothing, .skipped: continue
            case .bad(let bad, let line, _):
                console.failure(source.place(line) + bad.reason.terminalSafe)
                tally.failed += 1
            case .unreadable(let message):
                console.failure(message)
                tally.failed += 1
                return
            case .request(let request, let line, _):
                fetch(request, source.place(line))
            }
        }
    }

    /// - Parameter place: Where it was named, for messages.
    private mutating func fetch(_ request: ListedRequest, _ place: String) {
        let current = current
        var single = SingleFetch(request, place, plan, coordinator, console, progress, heads: heads)
        status = single.run(names: &names) {
            current.set($0)
        }
        current.set(nil)
        warnings.tell(coordinator, on: console)
        if status == ExitStatus.success { tally.succeeded += 1 } else { tally.failed += 1 }
        tally.outputIsClosed = single.outputIsClosed
        tally.printsAreClosed = single.printsAreClosed
        tally.outputIsBroken = single.outputIsBroken
        if status == ExitStatus.engineDown { tally.engineIsDown = true }
    }

    /// - Returns: The exit status.
    private mutating func end() -> Int32 {
        progress.finish()
        // Asked twice, it waits for nothing.
        if current.end() { coordinator.beginShutdown(grace: .zero) }
        coordinator.shutdownBlocking(grace: .zero)
        RunWarnings.tellLosses(of: coordinator, plan.configuration, on: console)
        plan.cookieFiles?.save(from: coordinator, console)
        let signal = current.signal
        if signal != nil || tally.printsAreClosed, leavesRequests {
            if plan.isSingle, let signal { Signals.die(of: signal) }
            tally.wasStopped = true
        }
        return plan.isSingle ? status : tally.status
    }

    /// Whether something is left: the fetch that a signal ended, or what comes behind it.
    private var leavesRequests: Bool {
        // A signal that came later ended nothing but the wait for validations.
        if isComplete { return false }
        if current.signal != nil, status != ExitStatus.success { return true }
        return !source.isExhausted()
    }
}
