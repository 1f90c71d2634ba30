import ArgumentParser
import Glibc
import Trawl
import TrawlPlatform

/// Where a run that may take long tells what it is doing.
struct WatchArguments: ParsableArguments {
    // As messages name them.
    static let socketOption = "--status-socket"
    static let metricsOption = "--metrics-file"

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
        switch socket {
        case nil: configuration.statusSocket = .standard
        case "none": configuration.statusSocket = .none
        case let path?: configuration.statusSocket = .path(try Self.absolute(path, of: Self.socketOption))
        }
        guard let metricsFile else { return }
        configuration.metricsFile = MetricsFile(
            try Self.absolute(metricsFile, of: Self.metricsOption), every: interval ?? .seconds(15))
    }

    private static func absolute(_ path: String, of option: String) throws(CommandError) -> String {
        do throws(SystemError) {
            return try LocalPath.absolute(path)
        } catch {
            throw CommandError(file: path, error.errno, option: option, status: ExitStatus.cannotCreate)
        }
    }
}
