import Glibc
import Trawl
import TrawlPlatform

/// What a `batch`, or a `get` of many URLs into files, is to do, checked: everything but its list.
struct BatchPlan {
    /// What becomes of a body.
    enum Files {
        /// It is dropped.
        case none
        /// A new file beneath the directory; no other is ever replaced.
        case new
        /// A file beneath the directory, which replaces one that was there before this run.
        case replacing
        /// The file that `-o` names for the URL.
        case named
    }

    let template: Request
    /// Requests of arguments, which come before those of the list.
    let arguments: [ListedRequest]
    let list: String?
    let form: RequestLine.Form
    let files: Files
    /// Absolute.
    let directory: String
    /// What stands before a relative name of a file in `-w`.
    let shownDirectory: String?
    /// The directory again, where new files are made beneath it.
    let root: OutputDirectory?
    let results: String?
    let retriesFailed: Bool
    let naming: NameRule
    let namesFromHeads: Bool
    let failsOnErrorStatus: Bool
    /// Whether the body of such a response is dropped.
    let dropsErrorBodies: Bool
    /// Whether a status for which requests are tried again is a failure when no try is left. The body of such a
    /// response is dropped: it is not what the request was for, and no record names it.
    let failsAfterRetries: Bool
    let writeOut: WriteOut?
    /// Whether a line at the end tells what became of it all.
    let summarizes: Bool
    /// Requests read ahead at most, those in flight among them, so that many of one host do not keep others waiting.
    let lookAhead: Int
    /// Where scratch files are made: for records and names of files, and lines that cannot start while others could.
    let scratch: ScratchPlaces
    /// Whether such lines are set aside.
    let setsLinesAside: Bool
    /// Requests of one origin that are read ahead once lines are set aside: more than it can have in flight.
    let originShare: Int
    let report: ReportArguments
    let configuration: Configuration
    let cookieFiles: CookieFiles?
    /// Requests that may wait to be tried again beside those: in files of their own names each holds a descriptor.
    var mostWaiting: Int { files == .named ? 256 : FetchesInFlight.mostWaiting }
    /// Whether there is a cache.
    var usesCache: Bool { configuration.store != .none && configuration.cache.isOn }

    init(_ command: BatchCommand) throws(CommandError) {
        let arguments = command.batch
        self.arguments = []
        list = command.list
        try command.authentication.check(list: command.list)
        // Before a directory is made for it.
        try ListReader.check(command.list)
        form = .list
        summarizes = true
        results = arguments.results
        retriesFailed = arguments.retriesFailed
        namesFromHeads = arguments.headerName
        failsOnErrorStatus = arguments.fail
        dropsErrorBodies = arguments.fail
        report = command.report
        if let pattern = arguments.pattern {
            naming = .template(try NameTemplate(pattern))
        } else {
            naming = arguments.remoteName ? .lastPart : .url
        }
        files = arguments.dropsBodies ? .none : .new
        if arguments.dropsBodies {
            (directory, root) = ("", nil)
        } else {
            let (path, opened) = try Self.directory(arguments.directory)
            (directory, root) = (path, opened)
        }
        shownDirectory = directory
        var template = try RunSetup.template(command.request, of: command, failsOnErrorStatus: arguments.fail)
        cookieFiles = command.cookies.files
        template.options.redirects.mode = arguments.noLocation ? .manual : .standard
        self.template = template
        failsAfterRetries = template.options.retry.count > 0
        writeOut = try RunSetup.writeOut(report)
        let parallel = command.pool.parallel?.value ?? 64
        // A host that is spared must not keep those behind it in the list waiting.
        lookAhead = command.pool.wait == nil ? max(1024, 16 * parallel) : 16_384
        let perHost = command.pool.perHost?.value ?? Self.connectionsPerHost(parallel: parallel)
        originShare = max(64, 2 * (perHost == 0 ? parallel : perHost))
        scratch = ScratchPlaces(results: results, output: directory)
        setsLinesAside = true
        var configuration = try RunSetup.configuration(
            command, name: "batch", parallel: parallel, perHost: perHost, root: files == .new ? directory : nil,
            longestRetryAfter: .seconds(600))
        configuration.transfersInAll = parallel
        command.tls.apply(to: &configuration)
        try command.watch.apply(to: &configuration)
        self.configuration = configuration
    }

    /// A `get` of many URLs into files.
    init(_ plan: GetPlan) {
        template = plan.template
        arguments = plan.requests
        list = plan.list
        form = .plain
        files = plan.output == .remoteNames ? .replacing : .named
        directory = plan.directory
        shownDirectory = plan.shownDirectory
        root = nil
        results = nil
        retriesFailed = false
        naming = .lastPart
        namesFromHeads = false
        failsOnErrorStatus = plan.failsOnErrorStatus
        dropsErrorBodies = plan.dropsErrorBodies
        failsAfterRetries = false
        writeOut = plan.writeOut
        summarizes = false
        // Nothing is opened before its turn may have come.
        lookAhead = plan.parallel
        scratch = ScratchPlaces(results: nil, output: plan.directory)
        setsLinesAside = false
        originShare = 0
        report = plan.report
        configuration = plan.configuration
        cookieFiles = plan.cookieFiles
    }

    /// Connections to one host where nothing is said. Of more than six fetches at a time a host that does not answer
    /// leaves room for others; of fewer it may have all, so that a list of one host goes as fast as `-j` says.
    private static func connectionsPerHost(parallel: Int) -> Int { max(6, parallel / 8) }

    private static func directory(_ name: String?) throws(CommandError) -> (String, OutputDirectory) {
        do throws(SystemError) {
            guard let name else {
                let path = try WorkingDirectory.path()
                return (path, try OutputDirectory(path))
            }
            let path = try LocalPath.absolute(name)
            try LocalPath.makeDirectories(path)
            return (path, try OutputDirectory(path))
        } catch {
            throw CommandError(file: name ?? ".", error.errno, status: ExitStatus.cannotCreate)
        }
    }
}
