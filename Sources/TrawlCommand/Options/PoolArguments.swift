import ArgumentParser
import Trawl
import TrawlHTTP

/// How much is done at a time.
struct PoolArguments: ParsableArguments {
    @Option(
        name: .customLong("workers"), parsing: .unconditional,
        help: ArgumentHelp(
            "Worker processes, 1 to 64. Default: one for one URL, else one for each core.", valueName: "count"))
    var workersText: String?

    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("parallel")], parsing: .unconditional,
        help: ArgumentHelp(
            "Fetch so many URLs at a time, 1 to 4096, of which a worker has no more than 1024; get does so into files "
                + "alone. Default 64, in pipe 128.",
            valueName: "count"))
    var parallelText: String?

    @Option(
        name: .customLong("per-host"), parsing: .unconditional,
        help: ArgumentHelp(
            "Connections to one host, busy or idle, over all workers; 0 is no limit. Default 6, in batch the larger of 6 "
                + "and an eighth of -j, in pipe no limit.",
            valueName: "count"))
    var perHostText: String?

    @Flag(
        name: .customLong("per-address"),
        help: ArgumentHelp(
            "Take hosts at one IP address for one: --per-host, --wait and Retry-After hold for them together. Names are "
                + "looked up first."))
    var countsAddresses = false

    @Option(
        name: .customLong("limit-rate"), parsing: .unconditional,
        help: ArgumentHelp(
            "Take no more bytes a second, both directions together: 500k, 10M, 10M/s. Default no limit.",
            valueName: "rate"))
    var rateText: String?

    @Option(
        name: .customLong("limit-rate-metered"), parsing: .unconditional,
        help: ArgumentHelp(
            "Take no more while the way out is a mobile network (wwan*, ppp*), in place of --limit-rate; mobile is 14,800 "
                + "bytes a second.",
            valueName: "rate"))
    var meteredRateText: String?

    @Option(
        name: .customLong("wait"), parsing: .unconditional,
        help: ArgumentHelp(
            "Wait so long after each request to a host before the next one to it, and up to a random time more: 2, 2~1.5. "
                + "Then one runs at a time for each host. Default 0.",
            valueName: "seconds[~seconds]"))
    var waitText: String?

    @Option(
        name: .customLong("retry-after-max"), parsing: .unconditional,
        help: ArgumentHelp(
            "Leave a host alone for as long as its Retry-After with a status of 429 or 503 says, but at most so long; 0 is "
                + "not at all. Default 60, in batch 600, in pipe 0. Where it is given, and not 0, a try of --retry waits no "
                + "longer for Retry-After either; else at most 600.",
            valueName: "seconds"))
    var retryAfterText: String?

    // Kept as text and read when asked for: each type of its own costs the parser time at every start.
    var workers: BoundedInteger<WorkerCount>? { workersText.flatMap { BoundedInteger<WorkerCount>(argument: $0) } }
    var parallel: BoundedInteger<ParallelCount>? {
        parallelText.flatMap { BoundedInteger<ParallelCount>(argument: $0) }
    }
    var perHost: BoundedInteger<PerHostCount>? { perHostText.flatMap { BoundedInteger<PerHostCount>(argument: $0) } }

    var wait: WaitArgument? { waitText.flatMap { WaitArgument(argument: $0) } }
    var longestRetryAfter: Duration? { retryAfterText.flatMap { SecondsArgument(argument: $0)?.duration } }
    var meteredLimit: BandwidthLimit? {
        meteredRateText == "mobile"
            ? .mobile : meteredRateText.flatMap { try? ByteRate($0) }.map { BandwidthLimit($0.bytesPerSecond) }
    }
    var rate: ByteRate? { rateText.flatMap { try? ByteRate($0) } }

    func validate() throws {
        let wanted = "seconds, such as 2 or 2~1.5, and at most ten years"
        try OptionText.check(waitText, "--wait <seconds[~seconds]>", wanted) { WaitArgument(argument: $0) != nil }
        try OptionText.checkSeconds(retryAfterText, "--retry-after-max <seconds>")
        do throws(ByteRate.Mistake) {
            if let rateText { _ = try ByteRate(rateText) }
        } catch {
            throw ValidationError("--limit-rate: \(error.advice.terminalSafe)")
        }
        do throws(ByteRate.Mistake) {
            if let meteredRateText, meteredRateText != "mobile" { _ = try ByteRate(meteredRateText) }
        } catch {
            throw ValidationError("--limit-rate-metered: \(error.advice.terminalSafe)")
        }
        try OptionText.check(workersText, "--workers <count>", within: WorkerCount.self)
        try OptionText.check(parallelText, "-j <count>", within: ParallelCount.self)
        try OptionText.check(perHostText, "--per-host <count>", within: PerHostCount.self)
    }

    /// Fills in what hosts are spared.
    ///
    /// - Parameter standard: What `Retry-After` is taken for at most where nothing is said.
    func apply(to politeness: inout HostPoliteness, longestRetryAfter standard: Duration) {
        if countsAddresses { politeness.key = .address }
        if let wait { politeness.delay = HostDelay(wait.least, random: wait.random) }
        politeness.longestRetryAfter = longestRetryAfter ?? standard
        politeness.respectsRetryAfter = politeness.longestRetryAfter > .zero
    }
}
