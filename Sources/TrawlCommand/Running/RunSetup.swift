import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// What options say, as the library's values.
enum RunSetup {
    /// The request all URLs of a run are fetched by.
    ///
    /// - Parameters:
    ///   - failsOnErrorStatus: Whether a status of 400 or more is a failure.
    ///   - fill: Fills in what the options of the subcommand's own say.
    static func template(
        _ command: some FetchingCommand, failsOnErrorStatus: Bool = false,
        _ fill: (inout Request) throws(CommandError) -> Void
    ) throws(CommandError) -> Request {
        var request = Request("")
        try checkFiles(command.tls, command.proxy)
        command.transfer.apply(to: &request.options)
        command.retry.apply(
            to: &request.options, failsOnErrorStatus: failsOnErrorStatus,
            longestRetryAfter: command.pool.longestRetryAfter)
        command.tls.apply(to: &request.options.tls)
        command.proxy.apply(to: &request.options.transport)
        command.cache.apply(to: &request.options)
        try command.authentication.apply(
            to: &request.options.authentication, home: getenv("HOME").map { String(cString: $0) }
        ) { user throws(CommandError) in try password(of: user, "--user", "", by: command.authentication.storage.asker)
        }
        try NetrcInput.settle(&request.options.authentication.netrc, option: command.authentication.netrcOption)
        try command.cookies.apply(to: &request.options)
        try fill(&request)
        if request.isByHand("Cookie") { request.options.cookies.manual = [] }
        if command.authentication.bearer != nil, request.isByHand("Authorization") {
            request.options.authentication.credential = nil
        }
        if let agent = request.options.userAgent, !FieldSyntax.isFieldValue(agent) {
            throw CommandError("-A: the user agent holds CR, LF or NUL")
        }
        if let refused = request.fields.refused { throw CommandError("-H: the field line \(refused) cannot be sent") }
        return request
    }

    /// Throws when a file that workers are to read cannot be read.
    static func checkFiles(_ tls: TLSArguments, _ proxy: ProxyArguments) throws(CommandError) {
        for file in tls.files { try file.check() }
        guard let path = proxy.caFile else { return }
        let status = ExitStatus.Curl.certificateFileError
        try NamedFile(option: "--proxy-cacert", path: path, curlStatus: status).check()
    }

    /// As above, with the request options of `get` and `batch`.
    static func template(
        _ arguments: RequestArguments, of command: some FetchingCommand, failsOnErrorStatus: Bool
    ) throws(CommandError) -> Request {
        try template(command, failsOnErrorStatus: failsOnErrorStatus) { request throws(CommandError) in
            try arguments.apply(to: &request) { path throws(CommandError) in try StandardStreams.readAll(path) }
        }
    }

    /// Asks for the password of an option that gives none.
    static func password(
        of user: String, _ option: String, _ place: String, by asker: SecretAsker
    ) throws(CommandError) -> String {
        guard let password = asker.read("Password for \(user.terminalSafe)\(place): ") else {
            throw CommandError("\(option): no password is given, and \(asker.name)")
        }
        return password
    }

    /// What `-w` prints; nil without it. Line ends of a file are left out as in curl: those that are meant are `\n`.
    static func writeOut(_ report: ReportArguments) throws(CommandError) -> WriteOut? {
        guard let format = report.writeOut else { return nil }
        guard format.hasPrefix("@") else { return WriteOut(format) }
        let text = try StandardStreams.readAll(String(format.dropFirst()), limit: 1 << 20)
        return WriteOut(String(decoding: text.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self))
    }

    /// The most transfers a worker can have.
    private static let mostInWorker = 1024

    /// What a person is to know when the workers have fewer fetches at a time than were asked for.
    static func shortage(of configuration: Configuration) -> String? {
        let (most, wanted) = (configuration.workers * configuration.transfersPerWorker, configuration.transfersInAll)
        // Nothing was asked for where there is no number.
        guard most < wanted, wanted < .max else { return nil }
        let workers = (wanted + mostInWorker - 1) / mostInWorker
        return "\(most) fetches at a time: a worker has no more than \(mostInWorker); --workers \(workers) is enough"
    }

    /// - Parameters:
    ///   - name: What the run is called where its status is told.
    ///   - parallel: Fetches at a time over all workers.
    ///   - perHost: Connections to one host where the user does not say it; nil is what the library has.
    ///   - root: The directory workers write files beneath; nil when they write none by themselves.
    ///   - longestRetryAfter: What `Retry-After` is taken for at most, where the user does not say it.
    static func configuration(
        _ command: some FetchingCommand, name: String, parallel: Int, perHost: Int? = nil, root: String?,
        longestRetryAfter: Duration = .seconds(60)
    ) throws(CommandError) -> Configuration {
        var configuration: Configuration
        do throws(FetchError) {
            configuration = try Configuration.fromEnvironment()
        } catch {
            // 2 is curl's own code, too, for what it cannot begin with.
            throw CommandError(error.detail, status: ExitStatus.configuration, curlStatus: ExitStatus.usage)
        }
        // As curl and Wget: system and language are nobody's business, and libcurl copies field lines byte by byte.
        if configuration.userAgent == nil { configuration.userAgent = "trawl/\(BuildIdentity.version)" }
        if let workers = command.pool.workers?.value {
            configuration.workers = workers
        } else if getenv("TRAWL_WORKERS").map({ $0.pointee == 0 }) ?? true {
            configuration.workers = max(1, min(configuration.workers, parallel))
        }
        // Zero is for debugging the library.
        configuration.workers = max(1, configuration.workers)
        configuration.transfersPerWorker = max(
            1, min(mostInWorker, (parallel + configuration.workers - 1) / configuration.workers))
        if let perHost = command.pool.perHost?.value ?? perHost { configuration.connectionsPerHost = perHost }
        if configuration.workerExecutable == nil {
            configuration.workerExecutable = OwnExecutable.path()
            configuration.workerArguments = ["worker"]
            configuration.workerIsOwnProgram = true
        }
        command.pool.apply(to: &configuration.politeness, longestRetryAfter: longestRetryAfter)
        if let rate = command.pool.rate { configuration.bandwidth = BandwidthLimit(rate.bytesPerSecond) }
        configuration.meteredBandwidth = command.pool.meteredLimit
        if let root { configuration.outputDirectories = [root] }
        try command.proxy.apply(to: &configuration.proxy) { user throws(CommandError) in
            try password(of: user, "--proxy-user", " at the proxy", by: command.authentication.storage.asker)
        } read: { path throws(CommandError) in
            try StandardStreams.readAll(path)
        }
        command.cache.apply(to: &configuration)
        // Each run of the command is a coordinator of its own; what a login set must be there for the next.
        configuration.cookies.endsSessionCookies = false
        try command.authentication.apply(to: &configuration)
        configuration.validationGrace = .seconds(5)
        configuration.programName = name
        // Who is told is known when there is a console.
        if command.debug.text != nil { configuration.debugLog = DebugLog(command.debug.categories) { _ in } }
        return configuration
    }
}
