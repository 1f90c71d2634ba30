import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// A batch from its start to its exit status.
///
/// The job is a value inside, so that its many parts are reached without the checks a class's own would need at each
/// use: they took a tenth of the time of a small request.
final class BatchRun: FetchDriver {
    /// How long a first signal lets fetches in flight go on.
    private static let drainTime = Duration.seconds(10)

    private var job: BatchJob

    private init(_ job: BatchJob) {
        self.job = job
    }

    /// - Returns: The exit status.
    static func run(_ plan: BatchPlan) throws(CommandError) -> Int32 {
        let console = Console(plan.report)
        let start = MonotonicClock.now()
        let list = try ListReader(plan.list)
        let results = try plan.results.map { path throws(CommandError) in try ResultsFile(path) }
        if let results, results.cutOff > 0 {
            console.note("\(results.name): the last record was not complete; its \(results.cutOff) bytes are gone")
        }
        // Where unfinished files have names, a killed run may have left some.
        if let directory = plan.directory, let results, results.isOfEarlierRun {
            let root = try? OutputRoot(path: directory)
            if let root, !root.hasUnnamedFiles { _ = root.sweepParts() }
        }
        let source = try BatchSource(list, results, retriesFailed: plan.retriesFailed, console: console)
        let signals = Signals.block()
        Scheduling.preferThroughput()
        let coordinator = try RunSupport.coordinator(plan.configuration)
        let stopping: StopRequests
        do throws(SystemError) {
            stopping = StopRequests(coordinator, console, drainTime: drainTime) {}
            try stopping.watch(signals)
        } catch {
            throw CommandError("\(error)", status: ExitStatus.engineDown)
        }
        let run = BatchRun(try BatchJob(plan, coordinator, source, results, stopping))
        coordinator.run(run)
        run.job.progress.finish()
        coordinator.shutdownBlocking(grace: .zero)
        run.job.summarize(start.duration(to: MonotonicClock.now()))
        return run.job.tally.status
    }

    func turn(_ answers: [FetchAnswer], at now: MonotonicInstant) -> DriverTurn {
        job.turn(answers, at: now)
    }
}
