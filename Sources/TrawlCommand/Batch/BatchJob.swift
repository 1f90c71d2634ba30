import Glibc
import Synchronization
import Trawl
import TrawlHTTP
import TrawlPlatform

/// Fetches a list: reads lines as there is room, keeps fetches in flight, writes a record for each that is over.
///
/// All of it happens on the coordinator's own thread, a group of answers and new requests at a time. A request is over
/// when its record is written, so that whatever kills this process costs no more than the fetches in flight, which the
/// next run with the same results file does again.
struct BatchJob {
    let plan: BatchPlan
    let coordinator: Coordinator
    private let stopping: StopRequests
    let console: Console
    let progress: ProgressDisplay
    let source: RequestSource
    var names: FileNames
    let templates: RequestTemplates

    var table = FetchesInFlight()
    /// Requests for which there was no descriptor.
    var shortages = ShortageQueue()
    /// How many fetches wait to be tried again.
    private(set) var waiting = 0
    var outputs: BatchOutputs
    var messages: BatchMessages
    var tally = RunTally()
    private var lookAhead: LookAhead
    /// Lines that others overtake; nil as long as there is no need of that.
    var aside: LinesAside?
    /// Whether lines could not be set aside: then it is not tried again.
    private var cannotSetAside = false
    var isInputOver = false
    /// Whether requests are left for another run.
    var leavesRequests = false
    /// The time of this turn.
    private(set) var now = MonotonicClock.now()
    /// The same by the clock of dates.
    private(set) var time = RecordTime()
    var warnings = RunWarnings()

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
            plan.template, on: coordinator, dropsErrorBodies: plan.dropsErrorBodies,
            dropsPassingErrors: plan.failsAfterRetries, namesFromHeads: plan.namesFromHeads)
        progress = ProgressDisplay(
            plan.report.progressKind(onTerminal: Terminal.isTerminal(STDERR_FILENO), sharesTerminal: false),
            bytesInFlight: { coordinator.bytesInFlight })
    }

    /// Deals with answers, and starts what there is room for.
    ///
    /// - Parameter load: How busy the workers are.
    mutating func turn(_ answers: [FetchAnswer], at now: MonotonicInstant, _ load: DriverLoad) -> DriverTurn {
        self.now = now
        waiting = load.waiting
        lookAhead.adapt(hasIdleWorkers: load.hasIdleWorkers)
        let wall = WallClock.now()
        time.set(microseconds: UInt64(max(0, wall.seconds)) * 1_000_000 + UInt64(wall.nanoseconds / 1000))
        checkOutputs()
        finish(answers)
        if load.hasIdleWorkers, lookAhead.isExhausted, aside == nil { beginSettingAside() }
        var turn = DriverTurn()
        // Mostly as many start as ended.
        turn.start.reserveCapacity(answers.count)
        startMore(&turn, load)
        lookAhead.note(isFull: !hasRoom)
        if let aside, aside.turned(isCalm: hasRoom) { endSettingAside() }
        if let failure = outputs.write() { outputFailed(failure) }
        showProgress()
        if let next = shortages.next { turn.wakeAt = min(turn.wakeAt ?? next, next) }
        turn.isFinished = table.isEmpty && isInputOver && aside?.isEmpty != false
        tally.wasStopped = leavesRequests && (stopping.count > 0 || tally.printsAreClosed)
        return turn
    }

    /// Whether no fetch is started any more.
    var isStopping: Bool {
        // The right side of an operator would take a copy of the whole job along.
        if tally.isBrokenOff { return true }
        return stopping.count > 0
    }

    /// Whether one more request may be read ahead.
    var hasRoom: Bool { hasRoom(beside: 0) }

    /// The same, when so many more than usual may be.
    func hasRoom(beside more: Int) -> Bool {
        table.hasRoom(for: lookAhead.count + more, waiting: waiting + shortages.count, mostWaiting: plan.mostWaiting)
    }

    /// Takes a request out of those in flight.
    @discardableResult
    mutating func remove(_ tag: UInt64) -> FetchInFlight {
        let fetch = table.remove(tag)
        if let aside, fetch.originNumber >= 0 { aside.ended(fetch) }
        return fetch
    }

    /// From now on lines that cannot start are set aside, so that others can.
    private mutating func beginSettingAside() {
        guard plan.setsLinesAside, !cannotSetAside, !isStopping, !isInputOver, !table.isFullOfLines else { return }
        let (share, began) = (plan.originShare, self.now)
        do throws(SystemError) {
            let aside = try plan.scratch.first { directory throws(SystemError) in
                try LinesAside(in: directory, share: share, at: began)
            }
            table.forEach { fetch in
                if let origin = templates.target(of: fetch.request)?.origin { aside.add(fetch, of: origin) }
            }
            self.aside = aside
        } catch {
            cannotSetAside = true
        }
    }

    private mutating func endSettingAside() {
        aside = nil
        table.forEach { $0.originNumber = -1 }
    }

    /// Whether the failure says nothing about the request, which the next run does again.
    mutating func isUnfinished(_ error: FetchError) -> Bool {
        switch error.code {
        case .shutDown, .cancelled: return true
        case .engineDown:
            if !tally.engineIsDown { console.failure(FailureText.of(error)) }
            tally.engineIsDown = true
            return true
        default: break
        }
        // Files that `-o` names one by one may be on as many disks.
        if error.isShortage || (error.isOfTheWholeOutput && plan.files != .named) {
            breakOff(FailureText.of(error))
            return true
        }
        guard error.code == .file, let obstacle = plan.root?.obstacle else { return false }
        breakOff("\(plan.directory.terminalSafe): \(SystemError.reason(obstacle))")
        return true
    }

    /// No more can be written: what is in flight ends without a record.
    mutating func breakOff(_ message: String) {
        if !tally.outputIsBroken { console.failure(message) }
        tally.outputIsBroken = true
        coordinator.beginShutdown(grace: .zero)
    }

    func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : LocalPath.joined(plan.directory, path)
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
        if let failure = outputs.close() { outputFailed(failure) }
        if !outputs.isOver { tally.wasStopped = true }
    }

    private mutating func outputFailed(_ failure: BatchOutputs.Failure) {
        switch failure {
        case .resultsClosed:
            tally.outputIsClosed = true
            coordinator.beginShutdown(grace: .zero)
        case .printsClosed:
            // Looked for in each turn.
            if tally.printsAreClosed { return }
            tally.printsAreClosed = true
            coordinator.beginShutdown(grace: .zero)
        case .broken(let message): breakOff(message)
        }
    }

    // MARK: Telling

    private mutating func showProgress() {
        guard progress.isShown else { return }
        let done = tally.succeeded + tally.failed + tally.skipped
        let begun = done + table.count + (aside?.count ?? 0)
        var many = ProgressLine.Many(done: done, failed: tally.failed, total: nil, bytes: tally.bytes)
        many.skipped = tally.skipped
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
        many.isOffline = coordinator.isMissingNetwork
        progress.state.withLock { $0 = .many(many) }
    }

    private func clampedCount(_ count: Double) -> Double { min(count, 1e15) }

    func summarize(_ elapsed: Duration) {
        let isCaching = plan.usesCache && coordinator.cacheProblem == nil
        console.note(tally.summary(after: elapsed, isCaching: isCaching))
    }
}
