import Glibc
import Synchronization
import Trawl
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// Fetches a list: reads lines as there is room, keeps fetches in flight, writes a record for each that is over.
///
/// All of it happens on the coordinator's own thread, a group of answers and new requests at a time. A request is over
/// when its record is written, so that whatever kills this process costs no more than the fetches in flight, which the
/// next run with the same results file does again.
struct BatchJob {
    /// Why a request counts as failed.
    private struct Failure {
        let message: String
        let curlCode: Int32
    }

    /// Lines dealt with before signals and workers are looked at again: most lists are of requests, which need room, but
    /// there are those of lines that are done or bad.
    private static let linesInATurn = 4096
    /// Seconds that a request waits for descriptors before the run is given up.
    private static let mostShortages = 10

    private let plan: BatchPlan
    private let coordinator: Coordinator
    private let stopping: StopRequests
    private let console: Console
    let progress: ProgressDisplay
    private let source: RequestSource
    private var names: FileNames
    private let templates: RequestTemplates

    private var table = FetchesInFlight()
    /// Requests for which there was no descriptor.
    private var shortages = ShortageQueue()
    /// How many fetches wait to be tried again.
    private var waiting = 0
    private var outputs: BatchOutputs
    private var messages: BatchMessages
    private(set) var tally = RunTally()
    private var lookAhead: LookAhead
    private var isInputOver = false
    /// Whether requests are left for another run.
    private var leavesRequests = false
    /// The time of this turn.
    private var now = MonotonicClock.now()
    /// Microseconds since 1970.
    private var time: UInt64 = 0
    private var warnings = RunWarnings()

    init(
        _ plan: BatchPlan, _ coordinator: Coordinator, _ source: RequestSource, _ outputs: BatchOutputs,
        _ stopping: StopRequests
    ) throws(CommandError) {
        self.plan = plan
        lookAhead = LookAhead(most: plan.lookAhead)
        self.coordinator = coordinator
        self.source = source
        self.outputs = outputs
        self.stopping = stopping
        console = stopping.console
        messages = BatchMessages(console, source, hasResults: outputs.results != nil)
        names = FileNames(plan.naming, source, namesFromHeads: plan.namesFromHeads)
        templates = try RequestTemplates(
            plan.template, on: coordinator, savesErrorBodies: !plan.failsOnErrorStatus,
            namesFromHeads: plan.namesFromHeads)
        progress = ProgressDisplay(
            plan.report.progressKind(onTerminal: Terminal.isTerminal(STDERR_FILENO), sharesTerminal: false), on: console
        )
    }

    /// Deals with answers, and starts what there is room for.
    ///
    /// - Parameter waiting: How many fetches wait to be tried again.
    mutating func turn(
        _ answers: [FetchAnswer], at now: MonotonicInstant, hasIdleWorkers: Bool, waiting: Int
    ) -> DriverTurn {
        self.now = now
        self.waiting = waiting
        lookAhead.adapt(hasIdleWorkers: hasIdleWorkers)
        let wall = WallClock.now()
        time = UInt64(max(0, wall.seconds)) * 1_000_000 + UInt64(wall.nanoseconds / 1000)
        checkOutputs()
        finish(answers)
        var turn = DriverTurn()
        startMore(&turn)
        lookAhead.note(isFull: !hasRoom)
        if let failure = outputs.write() { outputFailed(failure) }
        showProgress()
        if turn.wakeAt == nil { turn.wakeAt = shortages.next }
        turn.isFinished = table.isEmpty && isInputOver
        tally.wasStopped = stopping.count > 0 && leavesRequests
        return turn
    }

    /// Whether no fetch is started any more.
    private var isStopping: Bool {
        stopping.count > 0 || tally.engineIsDown || tally.outputIsBroken || tally.outputIsClosed
    }

    /// Whether one more request may be read ahead.
    private var hasRoom: Bool {
        table.hasRoom(for: lookAhead.count, waiting: waiting + shortages.count, mostWaiting: plan.mostWaiting)
    }

    // MARK: Starting

    /// Starts fetches as long as there is room and input that does not have to be waited for.
    private mutating func startMore(_ turn: inout DriverTurn) {
        if isStopping {
            if !isInputOver || !shortages.isEmpty { leavesRequests = true }
            isInputOver = true
            for tag in shortages.removeAll() { table.remove(tag) }
            return
        }
        while let tag = shortages.takeDue(at: now) { prepare(tag, into: &turn.start) }
        var lines = Self.linesInATurn
        // Without room in the outputs, a turn comes when there is some again.
        while !isInputOver, hasRoom, outputs.hasRoom(), !tally.outputIsBroken {
            guard lines > 0 else {
                turn.wakeAt = now
                return
            }
            lines -= 1
            switch source.next() {
            case .nothing: break
            case .request(let request, let line, let isAgain):
                let tag = table.insert(FetchInFlight(request, line: line, isAgain: isAgain, at: now))
                prepare(tag, into: &turn.start)
            case .bad(let bad, let line, let isAgain): refuse(bad, line, isAgain)
            case .skipped(let ending):
                tally.skipped += 1
                if ending == .failed { tally.failedBefore += 1 }
            case .wait:
                turn.input = source.descriptor
                return
            case .end:
                isInputOver = true
            case .unreadable(let message):
                console.failure(message)
                tally.failed += 1
                isInputOver = true
            }
        }
    }

    /// Makes the fetch of a request, or ends it when it cannot be one.
    private mutating func prepare(_ tag: UInt64, into prepared: inout [PreparedFetch]) {
        do throws(FetchError) {
            let template = try templates.template(for: table[tag].request)
            let target = try coordinator.target(of: table[tag].request.url, template)
            prepared.append(try prepare(table[tag], target, template, tag))
        } catch {
            if isUnfinished(.failure(error)) {
                leavesRequests = true
                table.remove(tag)
            } else {
                end(tag, .failure(error))
            }
        }
    }

    /// Decides where the body goes.
    private mutating func prepare(
        _ fetch: FetchInFlight, _ target: TargetURI, _ template: RequestTemplate, _ tag: UInt64
    ) throws(FetchError) -> PreparedFetch {
        let destination: ManyDestination
        switch plan.files {
        case .none: destination = .discard
        case .new:
            let name = try names.name(of: fetch, target)
            fetch.path = name.path
            destination = .file(name.path, name.collision)
        case .replacing:
            let name = fetch.request.out ?? FileName.ofURL(fetch.request.url)
            let unused = try names.unused(name)
            if unused != name { messages.note(fetch, "written to \(unused.terminalSafe)") }
            fetch.path = unused
            destination = .file(unused, .replace)
        case .named:
            let path = absolute(fetch.request.out ?? "")
            fetch.path = path
            return try coordinator.prepare(target, template, intoFile: path, tag: tag)
        }
        return coordinator.prepare(target, template, into: destination, tag: tag)
    }

    private mutating func refuse(_ bad: BadLine, _ line: Int, _ isAgain: Bool) {
        tally.failed += 1
        messages.failed(line: line, bad.reason.terminalSafe)
        guard outputs.results != nil else { return }
        ResultRecord.write(bad, line: line, isAgain: isAgain, time: time, to: &outputs.records)
    }

    // MARK: Ending

    private mutating func finish(_ answers: [FetchAnswer]) {
        if !answers.isEmpty { warnings.tell(coordinator, on: console) }
        for answer in answers {
            if isShortage(answer) {
                table[answer.tag].shortages += 1
                shortages.insert(answer.tag, at: now.advanced(by: .seconds(1)))
            } else if isUnfinished(answer.result) {
                leavesRequests = true
                table.remove(answer.tag)
            } else {
                table[answer.tag].attempts = answer.attempts
                if case .success(let response) = answer.result, isGivenUp(response) { removeFile(of: response) }
                end(answer.tag, answer.result)
            }
        }
    }

    /// Whether nothing was wrong but that too many files were open, which may pass.
    private func isShortage(_ answer: FetchAnswer) -> Bool {
        guard case .failure(let error) = answer.result else { return false }
        return error.isLackOfDescriptors && table[answer.tag].shortages < Self.mostShortages
    }

    /// Whether the answer says nothing about the request, which the next run does again.
    private mutating func isUnfinished(_ result: Result<Response, FetchError>) -> Bool {
        guard case .failure(let error) = result else { return false }
        switch error.code {
        case .shutDown, .cancelled: return true
        case .engineDown:
            if !tally.engineIsDown { console.failure(FailureText.of(error)) }
            tally.engineIsDown = true
            return true
        default: break
        }
        if error.isOfTheWholeOutput || error.isLackOfDescriptors {
            breakOff(FailureText.of(error))
            return true
        }
        guard error.code == .file, let obstacle = plan.root?.obstacle else { return false }
        breakOff("\(plan.directory.terminalSafe): \(SystemError.reason(obstacle))")
        return true
    }

    /// No more can be written: what is in flight ends without a record.
    private mutating func breakOff(_ message: String) {
        if !tally.outputIsBroken { console.failure(message) }
        tally.outputIsBroken = true
        coordinator.beginShutdown(grace: .zero)
    }

    /// Whether the response is one after which the request was tried again, and no try was left.
    private func isGivenUp(_ response: Response) -> Bool {
        // What nobody said will not be said otherwise.
        plan.failsAfterRetries && response.source != .generated
            && plan.template.options.retry.mayPass(status: response.status)
    }

    /// The body of such a response is not what the request was for. One that was taken over from another request's record
    /// stays.
    private func removeFile(of response: Response) {
        guard let file = response.file else { return }
        if names.adoptsFiles, source.wasRecorded(file: file) { return }
        unlink(absolute(file))
    }

    /// The file of a response, this request's own.
    ///
    /// A run that goes on takes over files of the same bytes that no record names. Where several requests want one name and
    /// get the same bytes, one may have taken over another's, which was recorded a moment ago: then it gets a copy.
    private mutating func ownFile(of response: Response) throws(SystemError) -> String? {
        guard let file = response.file, names.adoptsFiles else { return response.file }
        var own = file
        while source.wasRecorded(file: own) {
            let (name, number) = names.unrecorded(after: own)
            own = try FileCopy.copy(file, in: plan.directory, to: name, from: number)
        }
        do throws(SystemError) {
            try source.record(file: own)
        } catch {
            breakOff("no room to remember file names: \(SystemError.reason(error.errno))")
        }
        return own
    }

    private mutating func end(_ tag: UInt64, _ result: Result<Response, FetchError>) {
        let fetch = table.remove(tag)
        var failure: Failure?
        var file: String?
        switch result {
        case .success(let response):
            let isGivenUp = isGivenUp(response)
            do throws(SystemError) {
                file = isGivenUp ? nil : try ownFile(of: response)
            } catch {
                let message = "\((response.file ?? "").terminalSafe): \(SystemError.reason(error.errno))"
                if error.isOfTheWholeOutput {
                    leavesRequests = true
                    return breakOff(message)
                }
                failure = Failure(message: message, curlCode: ExitStatus.Curl.writeError)
            }
            if let file, let path = fetch.path, file != path { names.collided(path, became: file) }
            tally.bytes += response.receivedLength
            tally.cache.count(response.source)
            if plan.failsOnErrorStatus, failure == nil { failure = failureOfStatus(response, fetch) }
            if isGivenUp {
                failure = Failure(
                    message: "the response's status is \(response.status)", curlCode: ExitStatus.Curl.httpError)
            }
        case .failure(let error):
            failure = Failure(message: FailureText.of(error), curlCode: ExitStatus.curlCode(for: error))
        }
        if let failure {
            tally.failed += 1
            messages.failed(fetch, failure.message)
        } else {
            tally.succeeded += 1
        }
        if plan.writeOut != nil { writeOut(fetch, result, failure, file: file) }
        guard outputs.results != nil else { return }
        ResultRecord(
            request: fetch.request, line: fetch.line, result: result, file: file, isSuccess: failure == nil,
            isAgain: fetch.isAgain, attempts: fetch.attempts, time: time,
            elapsed: (now.nanoseconds - fetch.started.nanoseconds) / 1000
        ).write(to: &outputs.records)
    }

    /// With `--fail`: why the response is none, if it is.
    private func failureOfStatus(_ response: Response, _ fetch: FetchInFlight) -> Failure? {
        if response.status >= 400 {
            return Failure(
                message: "the response's status is \(response.status)", curlCode: ExitStatus.Curl.httpError)
        }
        guard plan.files == .replacing || plan.files == .named, let path = fetch.path else { return nil }
        do throws(SystemError) {
            try BodyWriter.saveRedirect(response, absolute(path))
            return nil
        } catch {
            return Failure(
                message: "\(path.terminalSafe): \(SystemError.reason(error.errno))",
                curlCode: ExitStatus.Curl.writeError)
        }
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : LocalPath.joined(plan.directory, path)
    }

    /// Prints what `-w` asks for, at the end of this turn.
    private mutating func writeOut(
        _ fetch: FetchInFlight, _ result: Result<Response, FetchError>, _ failure: Failure?, file: String?
    ) {
        var values = WriteOutValues(
            url: URLText.withoutUserInformation(fetch.request.url), method: templates.method(of: fetch.request),
            exitCode: failure?.curlCode ?? 0,
            total: fetch.started.duration(to: now))
        switch result {
        case .success(let response): values.response = response
        case .failure(let error): values.error = error
        }
        values.message = failure?.message ?? ""
        values.fileName = (file ?? fetch.path).map(absolute)
        if let text = plan.writeOut?.outputText(values, on: console) { outputs.printed += text.utf8 }
    }

    /// Looks after the outputs that have threads of their own.
    private mutating func checkOutputs() {
        if tally.outputIsClosed || tally.outputIsBroken { return }
        if let failure = outputs.failure(at: now) { outputFailed(failure) }
    }

    /// To be called when the outputs were given their time: what is not written by now is left for another run.
    mutating func closeOutputs() {
        // However short the run was.
        now = now.advanced(by: .seconds(2))
        checkOutputs()
        if !outputs.isOver { tally.wasStopped = true }
    }

    private mutating func outputFailed(_ failure: BatchOutputs.Failure) {
        switch failure {
        case .closed:
            tally.outputIsClosed = true
            coordinator.beginShutdown(grace: .zero)
        case .broken(let message): breakOff(message)
        }
    }

    // MARK: Telling

    private mutating func showProgress() {
        guard progress.isShown else { return }
        let done = tally.succeeded + tally.failed + tally.skipped
        let begun = done + table.count
        var many = ProgressLine.Many(done: done, failed: tally.failed, total: nil, bytes: tally.bytes)
        // After a signal the end is that of what is in flight.
        if !isStopping {
            many.total = source.total ?? (isInputOver ? begun : nil)
            if many.total == nil, let share = source.share, share > 0 {
                many.total = max(begun, Int(clampedCount(Double(begun) / share)))
                many.isEstimated = true
            }
        }
        if tally.cache.isOfUse { many.cache = tally.cache }
        many.isStopping = stopping.count > 0
        progress.state.withLock { $0 = .many(many) }
    }

    private func clampedCount(_ count: Double) -> Double { min(count, 1e15) }

    func summarize(_ elapsed: Duration) {
        let isCaching = plan.usesCache && coordinator.cacheProblem == nil
        console.note(tally.summary(after: elapsed, wasSignalled: stopping.count > 0, isCaching: isCaching))
    }
}
