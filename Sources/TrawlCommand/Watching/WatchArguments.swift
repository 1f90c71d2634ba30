import ArgumentParser
import Glibc
import Trawl
import TrawlPlatform

/// Where a run that may take long tells what it is doing.
struct WatchArguments: ParsableArguments {
    @Option(
        name: .customLong("status-socket"), parsing: .unconditional,
        help: ArgumentHelp(
            "Tell trawl status and trawl top at this socket, or with 'none' nowhere. Default: PID.sock in trawl in "
                + "$XDG_RUNTIME_DIR, or in trawl-UID in $TMPDIR or /tmp.",
            valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        name: .customLong("metrics-file"), parsing: .unconditional,
        help: ArgumentHelp("Keep metrics in this file, in the text format of Prometheus.", valueName: "file"),
        completion: .file())
    var metricsFile: String?

    @Option(
        name: .customLong("metrics-interval"), parsing: .unconditional,
        help: ArgumentHelp("Write them after so many seconds, 0.1 at least. Default 15.", valueName: "seconds"))
    var intervalText: String?

    private var interval: Duration? { intervalText.flatMap { SecondsArgument(argument: $0)?.duration } }

    func validate() throws {
        if socket?.isEmpty == true { throw ValidationError("--status-socket wants a path") }
        if metricsFile?.isEmpty == true || metricsFile == "-" { throw ValidationError("--metrics-file wants a file") }
        if intervalText != nil, metricsFile == nil { throw ValidationError("--metrics-interval needs --metrics-file") }
        try OptionText.check(intervalText, "--metrics-interval <seconds>", "seconds, at least 0.1") { text in
            SecondsArgument(argument: text).map { $0.duration >= .milliseconds(100) } ?? false
        }
    }

    /// Fills in what a run does for those that look on.
    func apply(to configuration: inout Configuration) throws(CommandError) {
        do throws(SystemError) {
            switch socket {
            case nil: configuration.statusSocket = .standard
            case "none": configuration.statusSocket = .none
            case let path?: configuration.statusSocket = .path(try LocalPath.absolute(path))
            }
            guard let metricsFile else { return }
            configuration.metricsFile = MetricsFile(
                try LocalPath.absolute(metricsFile), every: interval ?? .seconds(15))
        } catch {
            throw CommandError(file: socket ?? metricsFile ?? ".", error.errno, status: ExitStatus.cannotCreate)
        }
    }
}
