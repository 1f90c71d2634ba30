import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// Answers requests of standard input on standard output until the input ends.
///
/// All of it happens on the thread that calls `run`, but the writing. Input is read only while there is room for what
/// comes of it, so that a program that writes and does not read is held up itself, and nothing is lost. For bodies in
/// memory the coordinator has a budget, in which responses count until they are written.
final class PipeRun {
    /// Lines taken before answers are looked at again.
    private static let linesInARow = 256
    /// Answers made here that wait for others of their group, in bytes.
    private static let largestGroup = 1 << 20

    private let plan: PipePlan
    private let coordinator: Coordinator
    private let answers: AnswerQueue
    private let stopping: StopRequests
    private let console: Console
    private let list: ListReader
    private let output: OutputThread<PipeResponse?>
    private let templates: RequestTemplates

    private var table = FetchesInFlight()
    private var responses: [PipeResponse?] = []
    /// Of those that `answer` put there, in bytes.
    private var groupLoad = 0
    /// Requests that were read, on their way to the coordinator.
    private var fetches: [PreparedFetch] = []
    private var isInputOver = false
    private var isInputBroken = false
    /// Whether there is room for more requests.
    private var wantsInput = true
    /// Whether lines may be left that were read already.
    private var mayHaveLines = false
    /// Why nothing can be fetched any more.
    private var engineFailure: FetchError?
    private var warnings = RunWarnings()

    private init(
        _ plan: PipePlan, _ coordinator: Coordinator, _ list: ListReader, _ output: OutputThread<PipeResponse?>,
        _ stopping: StopRequests, _ answers: AnswerQueue
    ) throws(CommandError) {
        self.plan = plan
        self.coordinator = coordinator
        self.list = list
        self.output = output
        self.stopping = stopping
        self.answers = answers
        console = stopping.console
        templates = try RequestTemplates(plan.template, on: coordinator, dropsErrorBodies: false)
    }

    /// - Returns: The exit status.
    static func run(_ plan: PipePlan) throws(CommandError) -> Int32 {
        let limits = ListReader.Limits(line: PipePlan.longestLine, endless: nil)
        // Bytes that begin as gzip does are a bad line, which ends nothing.
        let list = try ListReader("-", limits: limits, unpacks: false)
        let reload = ConfigReload.ofProgram()
        let signals = Signals.block()
        let console = Console(isSilent: plan.isSilent)
        let coordinator = try Coordinator.started(plan.configuration, console)
        try plan.cookieFiles?.load(into: coordinator, console)
        let answers: AnswerQueue
        let stopping: StopRequests
        let output: OutputThread<PipeResponse?>
        do throws(SystemError) {
            answers = try AnswerQueue()
            stopping = StopRequests(coordinator, console) { answers.wake() }
            try stopping.watch(signals, reload: reload)
            console.note(plan.template.options.tls)
            try StandardError.detach()
            output = try OutputThread(mostLoad: plan.memory) {
                PipeOutput()
            } changed: {
                answers.wake()
            }
        } catch {
            throw CommandError("\(error)", status: ExitStatus.engineDown)
        }
        let run = try PipeRun(plan, coordinator, list, output, stopping, answers)
        run.answerAll()
        // The workers have done all there was to do; what they sent may still be on its way out.
        coordinator.shutdownBlocking(grace: .zero)
        RunWarnings.tellLosses(of: coordinator, plan.configuration, on: console)
        plan.cookieFiles?.save(from: coordinator, console)
        run.finishOutput()
        StandardError.settle()
        return run.status
    }

    private var status: Int32 {
        if let failure = output.failure {
            return Self.isClosed(failure) ? ExitStatus.success : ExitStatus.outputError
        }
        if stopping.count > 0 { return ExitStatus.stopped }
        if engineFailure != nil { return ExitStatus.engineDown }
        return isInputBroken ? ExitStatus.outputError : ExitStatus.success
    }

    private func answerAll() {
        var taken: [FetchAnswer] = []
        while true {
            startMore()
            if isInputOver, table.isEmpty { return }
            if isReaderGone() || output.isOver { return }
            answers.take(into: &taken)
            if !taken.isEmpty { warnings.tell(coordinator, on: console) }
            for answer in taken { finish(answer) }
            // What is written is to be let go, and not to wait here for the next answer.
            taken.removeAll(keepingCapacity: true)
            handOver()
        }
    }

    /// Waits for answers, input, room in the output, or a signal.
    /// - Returns: Whether nobody can read the output any more.
    private func isReaderGone() -> Bool {
        var pollers = [
            pollfd(fd: answers.rawValue, events: Int16(POLLIN), revents: 0),
            // Errors alone: they are told without being asked for.
            pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
        ]
        if wantsInput { pollers.append(pollfd(fd: list.descriptor, events: Int16(POLLIN), revents: 0)) }
        _ = poll(&pollers, nfds_t(pollers.count), mayHaveLines ? 0 : -1)
        return Self.hasNoReader(pollers[1])
    }

    /// Whether nobody can read the output at the moment.
    private static func hasNoReader() -> Bool {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        _ = poll(&output, 1, 0)
        return hasNoReader(output)
    }

    private static func hasNoReader(_ output: pollfd) -> Bool { output.revents & Int16(POLLERR | POLLHUP) != 0 }

    // MARK: Starting

    private func startMore() {
        if stopping.count > 0 { isInputOver = true }
        wantsInput = false
        mayHaveLines = false
        defer {
            handOver()
            if !fetches.isEmpty {
                coordinator.submit(fetches)
                fetches.removeAll(keepingCapacity: true)
            }
        }
        for _ in 0..<Self.linesInARow {
            guard !isInputOver, table.hasRoom(for: plan.lookAhead), output.hasRoom() else { return }
            let line: RequestLine
            do throws(CommandError) {
                switch try list.next(interrupt: -1) {
                case .line(_, let bytes): line = RequestLine(bytes, .pipe)
                case .bad(_, let reason, let start, _): line = .bad(RequestLine.broken(start, reason))
                case .end:
                    isInputOver = true
                    return
                case .interrupted:
                    wantsInput = true
                    return
                }
            } catch {
                isInputOver = true
                // Where one socket is both, its reset is told to who reads first: it is the end of the output.
                if Self.hasNoReader() { return }
                console.failure(error.message)
                isInputBroken = true
                return
            }
            switch line {
            case .nothing: break
            case .bad(let bad): answer(PipeResponse(bad.id, url: bad.url, badRequest: bad.reason))
            case .request(let request): start(request)
            }
        }
        mayHaveLines = true
    }

    private func start(_ request: ListedRequest) {
        if let engineFailure { return refuse(request, engineFailure) }
        do throws(FetchError) {
            let template = try templates.template(for: request.own)
            let target = try coordinator.target(of: request.url, template)
            let fetch = FetchInFlight(request, line: 0, keepsTerms: false, at: MonotonicInstant(nanoseconds: 0))
            let tag = table.insert(fetch)
            fetches.append(coordinator.prepare(target, template, into: .memory, tag: tag, answers: answers))
        } catch {
            refuse(request, error)
        }
    }

    private func refuse(_ request: ListedRequest, _ error: FetchError) {
        answer(PipeResponse(request.id, url: request.shownURL, .failure(error), mayHaveBeenSent: false))
    }

    /// Answers a line without a fetch. What waits here takes no room in the output yet: it must not be much.
    private func answer(_ response: PipeResponse) {
        responses.append(response)
        groupLoad += response.load
        if groupLoad >= Self.largestGroup { handOver() }
    }

    private func handOver() {
        output.add(&responses)
        groupLoad = 0
    }

    // MARK: Ending

    private func finish(_ answer: FetchAnswer) {
        let fetch = table.remove(answer.tag)
        var result = answer.result
        if case .failure(let error) = result {
            if error.code == .engineDown, engineFailure == nil {
                console.failure(FailureText.of(error))
                engineFailure = error
            }
            if error.code == .shutDown, let engineFailure { result = .failure(engineFailure) }
        }
        responses.append(
            PipeResponse(
                fetch.request.id, url: fetch.request.shownURL, result, mayHaveBeenSent: answer.mayHaveBeenSent))
    }

    private func finishOutput() {
        var taken: [FetchAnswer] = []
        output.finish(stopping, wokenBy: answers.rawValue) { answers.take(into: &taken) }
        if let failure = output.failure, !Self.isClosed(failure) {
            console.failure("standard output: \(SystemError.reason(failure.errno))")
        }
    }

    private static func isClosed(_ failure: SystemError) -> Bool {
        // The second is a standard output that never was.
        failure.errno == EPIPE || failure.errno == EBADF
    }
}
