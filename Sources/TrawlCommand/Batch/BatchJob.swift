import Glibc
import Synchronization
import Trawl
import TrawlHTTP
import TrawlJSON
import TrawlPlatform

/// Fetches a list: reads lines as there is room, keeps fetches in flight, writes a record for each that is over.
///
/// All of it happens on the coordinator's own thread, a group of answers and new requests at a time. A request is over
/// when its record is written, so that whatever kills this process costs no more than the fetches in flight, which the
/// next run with the same results file does again.
struct BatchJob {
    /// Failures told one by one when the results file has them all.
    private static let failuresTold = 100
    /// Lines dealt with before signals and workers are looked at again: most lists are of requests, which need room, but
    /// there are those of lines that are done or bad.
    private static let linesInATurn = 4096

    private let plan: BatchPlan
    private let coordinator: Coordinator
    private let stopping: StopRequests
    private let console: Console
    let progress: ProgressDisplay
    private let source: BatchSource
    private let results: ResultsFile?
    private var names: FileNames
    private let templates: RequestTemplates

    private var table = FetchesInFlight()
    private var retries = RetryQueue()
    private var records = JSONWriter()
    private(set) var tally = RunTally()
    private var isInputOver = false
    /// Whether requests are left for another run.
    private var leavesRequests = false
    /// The time of this turn.
    private var now = MonotonicClock.now()
    /// Microseconds since 1970.
    private var time: UInt64 = 0
    private var toldCount = 0

    init(
        _ plan: BatchPlan, _ coordinator: Coordinator, _ source: BatchSource, _ results: ResultsFile?,
        _ stopping: StopRequests
    ) throws(CommandError) {
        self.plan = plan
        self.coordinator = coordinator
        self.source = source
        self.results = results
        self.stopping = stopping
        console = stopping.console
        names = FileNames(plan.naming, source, namesFromHeads: plan.namesFromHeads)
        templates = try RequestTemplates(
            plan.template, on: coordinator, savesErrorBodies: !plan.failsOnErrorStatus,
            namesFromHeads: plan.namesFromHeads)
        progress = ProgressDisplay(
            plan.report.progressKind(onTerminal: Terminal.isTerminal(STDERR_FILENO), sharesTerminal: false), on: console
        )
    }

    /// Deals with answers, and starts what there is room for.
    mutating func turn(_ answers: [FetchAnswer], at now: MonotonicInstant) -> DriverTurn {
        self.now = now
        let wall = WallClock.now()
        time = UInt64(max(0, wall.seconds)) * 1_000_000 + UInt64(wall.nanoseconds / 1000)
        finish(answers)
        var turn = DriverTurn()
        startMore(&turn)
        writeRecords()
        showProgress()
        if turn.wakeAt == nil { turn.wakeAt = retries.next }
        turn.isFinished = table.isEmpty && isInputOver
        tally.wasStopped = stopping.count > 0 && leavesRequests
        return turn
    }

    /// Whether no fetch is started any more.
    private var isStopping: Bool {
        stopping.count > 0 || tally.engineIsDown || tally.outputIsBroken || tally.outputIsClosed
    }

    // MARK: Starting

    /// Starts fetches as long as there is room and input that does not have to be waited for.
    private mutating func startMore(_ turn: inout DriverTurn) {
        if isStopping {
            if !isInputOver || !retries.isEmpty { leavesRequests = true }
            isInputOver = true
            for tag in retries.removeAll() { table.remove(tag) }
            return
        }
        while let tag = retries.takeDue(at: now) { prepare(tag, into: &turn.start) }
        var lines = Self.linesInATurn
        while !isInputOver, table.hasRoom(for: plan.lookAhead) {
            guard lines > 0 else {
                turn.wakeAt = now
                return
            }
            lines -= 1
            switch source.next() {
            case .nothing: break
            case .request(let request, let line):
                tally.listed += 1
                let tag = table.insert(FetchInFlight(request, line: line, at: now))
                prepare(tag, into: &turn.start)
            case .bad(let bad, let line): refuse(bad, line)
            case .skipped(let ending):
                tally.skipped += 1
                if ending == .failed { tally.failedBefore += 1 }
            case .wait:
                turn.input = source.list.descriptor
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

    /// Makes the next attempt of a request, or ends it when it cannot be one.
    private mutating func prepare(_ tag: UInt64, into prepared: inout [PreparedFetch]) {
        table[tag].attempts += 1
        do throws(FetchError) {
            let template = try templates.template(for: table[tag].request)
            let target = try coordinator.target(of: table[tag].request.url, template)
            // They would be dropped in silence.
            if target.user != nil || target.password != nil { throw FetchError.credentialsInURL }
            var destination = ManyDestination.discard
            if plan.directory != nil {
                let name = try names.name(
                    of: table[tag], target, adopts: templates.isIdempotent(table[tag].request))
                table[tag].path = name.path
                destination = .file(name.path, name.collision)
            }
            prepared.append(coordinator.prepare(target, template, into: destination, tag: tag))
        } catch {
            end(tag, .failure(error))
        }
    }

    private mutating func refuse(_ bad: BadLine, _ line: Int) {
        tally.listed += 1
        tally.failed += 1
        tell("\(source.list.name):\(line): \(bad.reason.terminalSafe)")
        if results != nil { ResultRecord.write(bad, line: line, time: time, to: &records) }
    }

    // MARK: Ending

    private mutating func finish(_ answers: [FetchAnswer]) {
        for answer in answers {
            if isUnfinished(answer.result) {
                leavesRequests = true
                table.remove(answer.tag)
            } else if let delay = retryDelay(answer) {
                // When the run is stopped, the next one tries again.
                removeFile(of: answer)
                retries.insert(answer.tag, at: now.advanced(by: delay))
            } else if isAnothersFile(answer) {
                retries.insert(answer.tag, at: now)
            } else {
                end(answer.tag, answer.result)
            }
        }
    }

    /// Whether the answer says nothing about the request, which the next run does again.
    private mutating func isUnfinished(_ result: Result<Response, FetchError>) -> Bool {
        guard case .failure(let error) = result else { return false }
        switch error.code {
        case .shutDown, .cancelled: return true
        case .engineDown:
            if !tally.engineIsDown { console.failure(RunSupport.text(error)) }
            tally.engineIsDown = true
            return true
        default: break
        }
        guard RunSupport.isBrokenOutput(error) else { return false }
        breakOff(RunSupport.text(error))
        return true
    }

    /// No more can be written: what is in flight ends without a record.
    private mutating func breakOff(_ message: String) {
        if !tally.outputIsBroken { console.failure(message) }
        tally.outputIsBroken = true
        coordinator.beginShutdown(grace: .zero)
    }

    private mutating func retryDelay(_ answer: FetchAnswer) -> Duration? {
        if plan.retries == 0 { return nil }
        let fetch = table[answer.tag]
        guard fetch.attempts <= plan.retries else { return nil }
        return RetryQueue.delay(
            after: answer.result, attempt: fetch.attempts, isIdempotent: templates.isIdempotent(fetch.request))
    }

    /// The body of an error that is tried again is not what the request was for. One that was taken over from another
    /// request's record stays.
    private func removeFile(of answer: FetchAnswer) {
        guard let directory = plan.directory, case .success(let response) = answer.result, let file = response.file
        else {
            return
        }
        if names.adoptsFiles, source.wasRecorded(file: file) { return }
        unlink(LocalPath.joined(directory, file))
    }

    /// Whether a run that goes on took over a file that is another request's: both asked for one name and got the same
    /// bytes. Then it is fetched once more, for a file of its own.
    private mutating func isAnothersFile(_ answer: FetchAnswer) -> Bool {
        guard case .success(let response) = answer.result, let file = response.file, names.adoptsFiles else {
            return false
        }
        let fetch = table[answer.tag]
        if source.wasRecorded(file: file), fetch.firstNumber == 0, templates.isIdempotent(fetch.request) {
            fetch.firstNumber = names.number(after: file)
            fetch.attempts -= 1
            return true
        }
        do throws(SystemError) {
            try source.record(file: file)
        } catch {
            breakOff("no room to remember file names: \(SystemError.reason(error.errno))")
        }
        return false
    }

    private mutating func end(_ tag: UInt64, _ result: Result<Response, FetchError>) {
        let fetch = table.remove(tag)
        var isSuccess = false
        var file: String?
        switch result {
        case .success(let response):
            isSuccess = !(plan.failsOnErrorStatus && response.status >= 400)
            file = response.file
            if let file, let path = fetch.path, file != path { names.collided(path, became: file) }
            tally.bytes += response.receivedLength
            if !isSuccess { tell(fetch, "the response's status is \(response.status)") }
        case .failure(let error):
            tell(fetch, RunSupport.text(error))
        }
        if isSuccess { tally.succeeded += 1 } else { tally.failed += 1 }
        guard results != nil else { return }
        ResultRecord(
            request: fetch.request, line: fetch.line, result: result, file: file, isSuccess: isSuccess,
            attempts: fetch.attempts, time: time, elapsed: (now.nanoseconds - fetch.started.nanoseconds) / 1000
        ).write(to: &records)
    }

    /// Records reach the file before anything else is started or waited for.
    private mutating func writeRecords() {
        guard let results, !records.isEmpty else { return }
        do throws(SystemError) {
            try results.append(records)
        } catch {
            if error.errno == EPIPE {
                tally.outputIsClosed = true
                coordinator.beginShutdown(grace: .zero)
            } else {
                breakOff("\(results.name): \(SystemError.reason(error.errno))")
            }
        }
        records.removeAll()
    }

    // MARK: Telling

    private mutating func tell(_ fetch: FetchInFlight, _ message: String) {
        tell("\(source.list.name):\(fetch.line): \(RunSupport.shown(fetch.request.url)): \(message)")
    }

    private mutating func tell(_ message: String) {
        toldCount += 1
        if results == nil || toldCount <= Self.failuresTold {
            console.failure(message)
        } else if toldCount == Self.failuresTold + 1 {
            console.note("more failures are told in the results alone")
        }
    }

    private mutating func showProgress() {
        guard progress.isShown else { return }
        let done = tally.succeeded + tally.failed + tally.skipped
        let many = ProgressLine.Many(
            done: done, failed: tally.failed, total: isInputOver ? done + table.count : nil, bytes: tally.bytes)
        progress.state.withLock { $0 = .many(many) }
    }

    func summarize(_ elapsed: Duration) {
        let seconds = elapsed / .seconds(1)
        var parts = ["\(tally.succeeded) fetched"]
        if tally.failed > 0 { parts.append("\(tally.failed) failed") }
        if tally.skipped > 0 {
            parts.append(
                "\(tally.skipped) done before" + (tally.failedBefore > 0 ? " (\(tally.failedBefore) failed)" : ""))
        }
        parts.append("\(ByteText.short(tally.bytes)) in \(ProgressLine.time(seconds))")
        if stopping.count > 0 { parts.append("stopped") }
        console.note(parts.joined(separator: ", "))
    }
}
