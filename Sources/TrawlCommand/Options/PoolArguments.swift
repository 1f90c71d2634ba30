import ArgumentParser
import Trawl

/// How much is done at a time.
struct PoolArguments: ParsableArguments {
    @Option(
        name: .customLong("workers"), parsing: .unconditional,
        help: ArgumentHelp(
            "Worker processes, 1 to 64. Default: one for one URL, else one for each core.", valueName: "count"))
    var workers: BoundedInteger<WorkerCount>?

    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("parallel")], parsing: .unconditional,
        help: ArgumentHelp("Fetch so many URLs at a time into files. Default 64.", valueName: "count"))
    var parallel: BoundedInteger<ParallelCount>?

    @Option(
        name: .customLong("per-host"), parsing: .unconditional,
        help: ArgumentHelp("Connections to one host; 0 is no limit. Default 6.", valueName: "count"))
    var perHost: BoundedInteger<PerHostCount>?
}
