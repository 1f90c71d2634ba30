import ArgumentParser

/// What is said meanwhile and afterwards.
struct ReportArguments: ParsableArguments {
    @Flag(
        name: [.customShort("s"), .customLong("silent")],
        help: "No progress and no messages, but why it cannot start, and those of -w and --debug.")
    var silent = false

    @Flag(name: [.customShort("S"), .customLong("show-error")], help: "With -s: messages of failures all the same.")
    var showError = false

    @Flag(name: [.customShort("q"), .customLong("quiet")], help: "No progress and no notes, failures alone.")
    var quiet = false

    @Flag(
        name: [.customShort("v"), .customLong("verbose")],
        help: "In get alone: show heads of requests and responses; URLs are fetched one at a time.")
    var verbose = false

    @Option(
        name: [.customShort("w", allowingJoined: true), .customLong("write-out")], parsing: .unconditional,
        help: ArgumentHelp(
            "Print this after each URL; %{http_code} and its like, \\n and \\t are filled in. '@FILE' reads it, without its line ends.",
            valueName: "format"))
    var writeOut: String?

    @Option(
        name: .customLong("progress"), parsing: .unconditional,
        help: ArgumentHelp(
            "bar, line (the same without a bar), plain (that as lines, one a second) or none. Default: bar on a terminal.",
            valueName: "kind"))
    var progress: ProgressKind?

    @Flag(name: [.customLong("no-progress"), .customLong("no-progress-meter")], help: "As --progress none.")
    var noProgress = false

    /// Whether failures are told.
    var tellsFailures: Bool { !silent || showError }
    /// Whether notes are made, such as of a name that was taken.
    var makesNotes: Bool { !silent && !quiet }

    /// The progress to show.
    /// - Parameters:
    ///   - onTerminal: Whether standard error is a terminal.
    ///   - sharesTerminal: Whether bodies go to a terminal too.
    func progressKind(onTerminal: Bool, sharesTerminal: Bool) -> ProgressKind {
        if silent || quiet || noProgress { return .hidden }
        switch progress {
        case .plain: return .plain
        case .hidden: return .hidden
        case .bar, .line: return onTerminal ? progress ?? .bar : .hidden
        case nil: return onTerminal && !sharesTerminal && !verbose ? .bar : .hidden
        }
    }
}

/// The value of `--progress`.
enum ProgressKind: String, ExpressibleByArgument, CaseIterable {
    case bar, line, plain
    case hidden = "none"

    /// Whether it is one line of a terminal, drawn again and again.
    var isDrawn: Bool { self == .bar || self == .line }
}
