import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// A batch, or a `get` of many URLs into files, from its start to its exit status.
///
/// The job is a value inside, so that its many parts are reached without the checks a class's own would need at each
/// use: they took a tenth of the time of a small request.
final class BatchRun: FetchDriver {
    private var job: BatchJob
    /// `-w` does, and nothing else.
    let readsMetrics: Bool

    private init(_ job: BatchJob) {
        self.job = job
        readsMetrics = job.plan.writeOut != nil
    }

    /// - Returns: The exit status.
    static func run(_ plan: BatchPlan) throws(CommandError) -> Int32 {
        // Before anything that takes time: there may be millions of records, and a pipe that nobody opens.
        let reload = ConfigReload.ofProgram()
        let signals = Signals.block(endingWith: ExitStatus.stopped, reloads: reload != nil)
        let console = Console(plan.report)
        console.note(plan.template.options.tls)
        plan.writeOut?.tellUnknown(on: console)
        let start = MonotonicClock.now()
        let list = try plan.list.map { path throws(CommandError) in try ListReader(path) }
        let results = try plan.results.map { path throws(CommandError) in
            try ResultsFile(path, list: list?.descriptor)
        }
        if let results, results.cutOff > 0 {
            console.note("\(results.name): the last record was not complete; its \(results.cutOff) bytes are gone")
        }
        if let results, let number = results.missingLock {
            let reason = SystemError.reason(number)
            console.note("\(results.name): cannot be locked (\(reason)); no other run may write to it meanwhile")
        }
        sweepParts(plan)
        let source = try source(plan, list, results, console)
        signals.begin()
        if list != nil { Scheduling.preferThroughput() }
        let coordinator = try Coordinator.started(plan.configuration, console)
        try plan.cookieFiles?.load(into: coordinator, console)
        let stopping: StopRequests
        let attention: WakeUp
        var printer: OutputThread<[UInt8]>?
        do throws(SystemError) {
            let woken = try WakeUp()
            attention = woken
            stopping = StopRequests(coordinator, console) { woken.signal() }
            try stopping.watch(signals, reload: reload)
            let changed = { @Sendable in
                woken.signal()
                coordinator.wakeDriver()
            }
            try results?.begin(changed: changed)
            try StandardError.detach()
            if plan.writeOut != nil {
                printer = try OutputThread(mostLoad: LineWriter.mostLoad) {
                    LineWriter(descriptor: STDOUT_FILENO)
                } changed: {
                    changed()
                }
            }
        } catch {
            throw CommandError("\(error)", status: ExitStatus.engineDown)
        }
        let run = BatchRun(try BatchJob(plan, coordinator, source, BatchOutputs(results, printer), stopping))
        coordinator.run(run)
        run.job.progress.finish()
        coordinator.shutdownBlocking(grace: .zero)
        RunWarnings.tellLosses(of: coordinator, plan.configuration, on: console)
        results?.finish(stopping, attention)
        printer?.finish(stopping, wokenBy: attention.rawValue) { attention.drain() }
        // Behind what -w prints. Who did not read that in time is given no more.
        if let cookieFiles = plan.cookieFiles, !cookieFiles.writesStandardOutput || printer?.isOver != false {
            cookieFiles.save(from: coordinator, console)
        }
        run.job.closeOutputs()
        if plan.summarizes { run.job.summarize(start.duration(to: MonotonicClock.now())) }
        StandardError.settle()
        return run.job.tally.status
    }

    /// Where unfinished files have names, a killed run may have left some, whether it wrote results or not.
    private static func sweepParts(_ plan: BatchPlan) {
        guard plan.files == .new, let root = plan.root?.root else { return }
        if !root.hasUnnamedFiles { root.sweepParts() }
    }

    private static func source(
        _ plan: BatchPlan, _ list: ListReader?, _ results: ResultsFile?, _ console: Console
    ) throws(CommandError) -> RequestSource {
        if let list, plan.form == .list {
            return try RequestSource(
                list, into: plan.directory, results, in: plan.scratch, retriesFailed: plan.retriesFailed,
                console: console)
        }
        return RequestSource(plan.arguments, list, plan.form, in: plan.scratch)
    }

    func turn(_ answers: [FetchAnswer], at now: MonotonicInstant, _ load: DriverLoad) -> DriverTurn {
        job.turn(answers, at: now, load)
    }
}
