import Glibc
import Trawl
import TrawlPlatform

/// What a `batch` is to do, checked: everything but its list.
struct BatchPlan {
    let template: Request
    let list: String
    /// Absolute; nil when bodies are dropped.
    let directory: String?
    let results: String?
    let retriesFailed: Bool
    let naming: NameRule
    let namesFromHeads: Bool
    let failsOnErrorStatus: Bool
    let retries: Int
    let parallel: Int
    /// Requests read ahead of those in flight, so that many of one host do not keep others waiting.
    let lookAhead: Int
    let report: ReportArguments
    let configuration: Configuration

    init(_ command: BatchCommand) throws(CommandError) {
        let arguments = command.batch
        list = command.list
        results = arguments.results
        retriesFailed = arguments.retriesFailed
        namesFromHeads = arguments.headerName
        failsOnErrorStatus = arguments.fail
        retries = arguments.retries ?? 0
        report = command.report
        if let pattern = arguments.pattern {
            naming = .template(try NameTemplate(pattern))
        } else {
            naming = arguments.remoteName ? .lastPart : .url
        }
        directory = arguments.dropsBodies ? nil : try Self.directory(arguments.directory)
        var template = try RunSetup.template(command.request, command.transfer, command.tls)
        template.options.redirects.mode = arguments.noLocation ? .manual : .standard
        self.template = template
        parallel = command.pool.parallel?.value ?? 64
        lookAhead = max(1024, 16 * parallel)
        var configuration = try RunSetup.configuration(command.pool, parallel: parallel, root: directory)
        configuration.connectionsPerHost = command.pool.perHost?.value ?? max(6, parallel / 8)
        configuration.transfersInAll = parallel
        self.configuration = configuration
    }

    private static func directory(_ name: String?) throws(CommandError) -> String {
        do throws(SystemError) {
            guard let name else { return try LocalPath.current() }
            let path = try LocalPath.absolute(name)
            try LocalPath.makeDirectories(path)
            var info = stat()
            guard stat(path, &info) == 0 else { throw SystemError(errno: errno, call: "stat") }
            guard info.st_mode & S_IFMT == S_IFDIR else { throw SystemError(errno: ENOTDIR, call: "stat") }
            return path
        } catch {
            throw CommandError(
                "\((name ?? ".").terminalSafe): \(SystemError.reason(error.errno))", status: ExitStatus.cannotCreate)
        }
    }
}
