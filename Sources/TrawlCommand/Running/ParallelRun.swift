import Glibc
import Synchronization
import Trawl
import TrawlHTTP
import TrawlPlatform

/// Fetches many URLs into files, several at a time.
///
/// The main thread reads URLs and waits for room; a task for each fetch waits for its end and reports it.
final class ParallelRun: Sendable {
    /// How long a first signal lets fetches in flight go on.
    private static let drainTime = Duration.seconds(10)

    private struct State {
        var tally = RunTally()
        var inFlight = 0
        var isWaited = false
        var signals = 0
        var deadline: MonotonicInstant?
    }

    private let plan: GetPlan
    private let coordinator: Coordinator
    private let console: Console
    private let progress: ProgressDisplay
    private let attention: WakeUp
    private let state = Mutex(State())

    private init(_ plan: GetPlan, _ coordinator: Coordinator) throws(SystemError) {
        self.plan = plan
        self.coordinator = coordinator
        attention = try WakeUp()
        console = Console(plan.report)
        progress = ProgressDisplay(
            plan.report.progressKind(onTerminal: Terminal.isTerminal(STDERR_FILENO), sharesTerminal: false), on: console
        )
    }

    /// - Returns: The exit status.
    static func run(_ plan: GetPlan) throws(CommandError) -> Int32 {
        var names: [String] = []
        if case .named(let given) = plan.output { names = given }
        var source = try URLSource(urls: plan.urls, fileNames: names, list: plan.list)
        let signals = Signals.block()
        let coordinator = try RunSupport.coordinator(plan.configuration)
        let run: ParallelRun
        do throws(SystemError) {
            run = try ParallelRun(plan, coordinator)
            try signals.watch { signal, _ in
                run.stop()
            } suspend: { stopping in
                if stopping { run.console.erase() }
                coordinator.signalWorkers(stopping ? SIGSTOP : SIGCONT)
            }
        } catch {
            throw CommandError("\(error)", status: ExitStatus.engineDown)
        }
        run.showProgress()
        run.submitAll(&source)
        run.waitForAll()
        run.progress.finish()
        coordinator.shutdownBlocking(grace: .zero)
        return run.state.withLock { $0.tally.status }
    }

    // MARK: Main thread

    private func submitAll(_ source: inout URLSource) {
        var names = TakenNames()
        while waitForRoom() {
            let next: URLSource.Next
            do throws(CommandError) {
                next = try source.next(interrupt: attention.rawValue)
            } catch {
                fail(error.message)
                return
            }
            switch next {
            case .end: return
            case .interrupted: attention.drain()
            case .bad(let place, let reason): fail(place + reason)
            case .item(let item): submit(item, &names)
            }
        }
    }

    /// Waits until one more fetch may run.
    /// - Returns: False when no more is to be started.
    private func waitForRoom() -> Bool {
        while true {
            let answer: Bool? = state.withLock { state in
                if state.signals > 0 || state.tally.engineIsDown || state.tally.outputIsBroken { return false }
                if state.tally.outputIsClosed { return false }
                if state.inFlight < plan.parallel { return true }
                state.isWaited = true
                return nil
            }
            if let answer { return answer }
            wait(.seconds(3600))
        }
    }

    /// Waits for the fetches in flight; after a signal not for ever.
    private func waitForAll() {
        while true {
            let (inFlight, limit): (Int, Duration) = state.withLock { state in
                state.isWaited = true
                guard let deadline = state.deadline else { return (state.inFlight, .seconds(3600)) }
                return (state.inFlight, state.signals > 1 ? .zero : MonotonicClock.now().duration(to: deadline))
            }
            if inFlight == 0 { return }
            if limit <= .zero {
                // What was in flight ends as stopped, and is told no more.
                coordinator.shutdownBlocking(grace: .zero)
                return
            }
            wait(limit)
        }
    }

    private func wait(_ limit: Duration) {
        var poller = pollfd(fd: attention.rawValue, events: Int16(POLLIN), revents: 0)
        let milliseconds = max(1, min(limit / .milliseconds(1), 3_600_000))
        _ = poll(&poller, 1, Int32(milliseconds.rounded(.up)))
        attention.drain()
    }

    private func submit(_ item: FetchItem, _ names: inout TakenNames) {
        let path: String
        do throws(CommandError) {
            path = try self.path(item, &names)
        } catch {
            return fail("\(item.place)\(RunSupport.shown(item.url)): \(error.message)")
        }
        state.withLock { $0.inFlight += 1 }
        var request = plan.template
        request.url = item.url
        var options = Destination.FileOptions()
        options.createsEmptyFile = true
        options.savesErrorBodies = !plan.failsOnErrorStatus
        Task.detached { [self, request, options] in
            await fetch(request, item, into: .file(path, options: options), path: path)
        }
    }

    private func path(_ item: FetchItem, _ names: inout TakenNames) throws(CommandError) -> String {
        if case .named = plan.output, let name = item.fileName { return try plan.path(name) }
        let name = item.fileName ?? FileName.ofURL(item.url)
        let free = names.take(name)
        if free != name { console.note("\(item.place)\(RunSupport.shown(item.url)): written to \(free.terminalSafe)") }
        return LocalPath.joined(plan.directory, free)
    }

    // MARK: Tasks

    private func fetch(_ request: Request, _ item: FetchItem, into destination: Destination, path: String) async {
        let start = MonotonicClock.now()
        let result: Result<Response, FetchError>
        var conversation = ""
        if plan.report.verbose {
            let fetch = coordinator.start(request, into: destination)
            var last: Result<Response, FetchError> = .failure(FetchError(.cancelled, ""))
            for await event in fetch.events { Self.record(event, of: fetch, in: &conversation, &last) }
            result = last
        } else {
            do throws(FetchError) {
                result = .success(try await coordinator.send(request, into: destination))
            } catch {
                result = .failure(error)
            }
        }
        let total = start.duration(to: MonotonicClock.now())
        if !conversation.isEmpty { console.write(conversation) }
        finish(item, result, request, path: path, total: total)
    }

    private static func record(
        _ event: FetchEvent, of fetch: Fetch, in text: inout String, _ last: inout Result<Response, FetchError>
    ) {
        switch event {
        case .attempt(let number):
            if let sent = fetch.sentRequest(attempt: number) {
                text += HeadText.lines(sent, version: "HTTP", prefix: "> ")
            }
        case .interim(let head), .head(let head): text += HeadText.lines(head, prefix: "< ")
        case .redirected(let hop): text += HeadText.lines(hop.head, prefix: "< ")
        case .ended(let result): last = result
        case .started, .data, .progress: break
        }
    }

    private func finish(
        _ item: FetchItem, _ result: Result<Response, FetchError>, _ request: Request, path: String, total: Duration
    ) {
        var values = WriteOutValues(url: item.url, method: request.effectiveMethod.name, exitCode: 0, total: total)
        values.fileName = path
        var engineIsDown = false
        var outputIsBroken = false
        switch result {
        case .success(let response):
            values.response = response
            if plan.failsOnErrorStatus, response.status >= 400 {
                values.exitCode = ExitStatus.Curl.httpError
                values.message = "the response's status is \(response.status)"
            } else if plan.failsOnErrorStatus, response.file == nil, !response.isSuccess {
                saveRedirect(response, path, &values)
            }
        case .failure(let error):
            values.error = error
            values.exitCode = ExitStatus.curlCode(for: error)
            values.message = RunSupport.text(error)
            engineIsDown = error.code == .engineDown
            outputIsBroken = RunSupport.isBrokenOutput(error)
        }
        let wasStopped = values.error?.code == .shutDown
        if values.exitCode != 0, !wasStopped {
            console.failure("\(item.place)\(RunSupport.shown(item.url)): \(values.message)")
        }
        var outputIsClosed = false
        do throws(SystemError) {
            if !wasStopped { try RunSupport.writeOut(plan.writeOut, values, on: console) }
        } catch {
            outputIsClosed = error.errno == EPIPE
            outputIsBroken = outputIsBroken || !outputIsClosed
        }
        ended { tally in
            if values.exitCode == 0 { tally.succeeded += 1 } else { tally.failed += 1 }
            tally.bytes += values.response?.receivedLength ?? 0
            tally.engineIsDown = tally.engineIsDown || engineIsDown
            tally.outputIsBroken = tally.outputIsBroken || outputIsBroken
            tally.outputIsClosed = tally.outputIsClosed || outputIsClosed
        }
    }

    /// With -f the worker saves bodies of 2xx alone; that of a redirect not followed is wanted too.
    private func saveRedirect(_ response: Response, _ path: String, _ values: inout WriteOutValues) {
        do throws(SystemError) {
            let file = try BodyWriter.file(path, replaces: true)
            try response.body.withUnsafeBytes { bytes throws(SystemError) in try file.write(bytes) }
            try file.finish()
        } catch {
            values.exitCode = ExitStatus.Curl.writeError
            values.message = "\(path.terminalSafe): \(SystemError.reason(error.errno))"
        }
    }

    // MARK: State

    private func ended(_ change: (inout RunTally) -> Void) {
        let wakes = state.withLock { state in
            change(&state.tally)
            state.inFlight -= 1
            defer { state.isWaited = false }
            return state.isWaited
        }
        if wakes { attention.signal() }
        showProgress()
    }

    /// A URL that never became a fetch.
    private func fail(_ message: String) {
        console.failure(message)
        state.withLock { $0.tally.failed += 1 }
    }

    private func showProgress() {
        guard progress.isShown else { return }
        let tally = state.withLock { $0.tally }
        progress.state.withLock {
            $0 = .many(
                .init(
                    done: tally.succeeded + tally.failed, failed: tally.failed,
                    total: plan.list == nil ? plan.urls.count : nil, bytes: tally.bytes))
        }
    }

    /// A signal came.
    private func stop() {
        state.withLock { state in
            state.signals += 1
            state.tally.wasStopped = true
            if state.deadline == nil { state.deadline = MonotonicClock.now().advanced(by: Self.drainTime) }
        }
        attention.signal()
    }
}
