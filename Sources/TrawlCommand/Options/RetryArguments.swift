import ArgumentParser
import Trawl

/// What is tried again, in curl's words.
struct RetryArguments: ParsableArguments {
    @Option(
        name: .customLong("retry"), parsing: .unconditional,
        help: ArgumentHelp(
            "Try so often again after a failure that may pass: lost connections, timeouts, and the statuses 408, 429, "
                + "500, 502, 503 and 504. Requests that must not be sent twice, such as POST, are not. Waits are what "
                + "Retry-After says, else 1 s and then twice as long each time. Default 0.",
            valueName: "count"))
    var countText: String?

    @Option(
        name: .customLong("retry-delay"), parsing: .unconditional,
        help: ArgumentHelp("Wait so long before each try, unless Retry-After says otherwise.", valueName: "seconds"))
    var delayText: String?

    @Option(
        name: .customLong("retry-max-time"), parsing: .unconditional,
        help: ArgumentHelp("Begin no try later than this after the first. Default no limit.", valueName: "seconds"))
    var longestTimeText: String?

    @Flag(name: .customLong("retry-connrefused"), help: "Try again after a refused connection too.")
    var retriesRefusedConnections = false

    @Flag(
        name: .customLong("retry-all-errors"),
        help: "Try again after all failures of the other side: TLS, broken responses, with -f every status from 400 on."
    )
    var retriesAllErrors = false

    @Option(
        name: .customLong("wait-for-network"), parsing: .unconditional,
        help: ArgumentHelp(
            "Wait for the network in place of failing when no route leads outside, for so long at most; 0 is as long as it "
                + "takes.",
            valueName: "seconds"))
    var networkWaitText: String?

    // As in PoolArguments.
    private var count: BoundedInteger<RetryCount>? { countText.flatMap { BoundedInteger<RetryCount>(argument: $0) } }
    private var delay: SecondsArgument? { delayText.flatMap { SecondsArgument(argument: $0) } }
    private var longestTime: SecondsArgument? { longestTimeText.flatMap { SecondsArgument(argument: $0) } }

    private var networkWait: SecondsArgument? { networkWaitText.flatMap { SecondsArgument(argument: $0) } }

    func validate() throws {
        try OptionText.checkSeconds(networkWaitText, "--wait-for-network <seconds>")
        try OptionText.check(countText, "--retry <count>", within: RetryCount.self)
        try OptionText.checkSeconds(delayText, "--retry-delay <seconds>")
        try OptionText.checkSeconds(longestTimeText, "--retry-max-time <seconds>")
    }

    /// Fills in what these options say. Zero seconds are none, as in curl.
    ///
    /// - Parameters:
    ///   - failsOnErrorStatus: Whether a status of 400 or more is a failure.
    ///   - longestRetryAfter: What `Retry-After` is taken for at most; nil is the default.
    func apply(to options: inout RequestOptions, failsOnErrorStatus: Bool, longestRetryAfter: Duration?) {
        var retry = RequestOptions.Retry(count?.value ?? 0)
        if let delay, delay.duration > .zero { retry.delay = delay.duration }
        if let longestTime, longestTime.duration > .zero { retry.longestTime = longestTime.duration }
        if let longestRetryAfter, longestRetryAfter > .zero { retry.longestRetryAfter = longestRetryAfter }
        retry.retriesRefusedConnections = retriesRefusedConnections
        retry.retriesAllErrors = retriesAllErrors
        retry.failsOnErrorStatus = failsOnErrorStatus
        options.retry = retry
        if let networkWait {
            options.waitsForConnectivity = true
            options.timeLimits.connectivity = networkWait.duration
        }
    }
}
