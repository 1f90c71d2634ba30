import Glibc
import TrawlHTTP
import TrawlPlatform

/// How a coordinator works.
///
/// Nothing here is read from the environment; ``fromEnvironment()`` is there to be called.
public struct Configuration: Sendable {
    /// Worker processes. Zero runs the transfers on a thread of this process, for tests and debugging: then a crash
    /// is not contained. Default: one for each processor that this process may use, by its affinity and by the quota of its
    /// control group. At most 64.
    public var workers = min(64, Processors.usable)
    /// Transfers one worker runs at a time. Default 64, at most 1,024.
    public var transfersPerWorker = 64
    /// Transfers at a time over all workers, beneath what their number allows.
    package var transfersInAll = Int.max
    /// Bytes that bodies in memory may take, those that are being received and those of responses that are not let go:
    /// transfers wait for room, those in their middle too, and none begins where there is none. Nil is no bound.
    ///
    /// For programs whose responses all go into memory and are let go one after the other, as those of `trawl pipe`.
    /// One that keeps its responses would wait for itself, so that it is not for all.
    package var memoryBudget: Int?
    /// Connections to one origin over all workers, those that carry nothing at the moment included, and requests in
    /// flight to it; 0 is no limit. Default 6.
    public var connectionsPerHost = 6
    /// What each host is spared beside that: distances, pauses after failures, `Retry-After`.
    public var politeness = HostPoliteness()
    /// What all fetches may take together. ``Coordinator/setBandwidthLimit(_:)`` changes it. Default: no limit.
    public var bandwidth = BandwidthLimit.none
    /// What holds in place of ``bandwidth`` while the network is metered (``NetworkPath/Status/metered``), such as
    /// ``BandwidthLimit/mobile``; nil is the same as elsewhere, which is the default.
    ///
    /// - Source: ASIHTTPRequest's `throttleBandwidthForWWANUsingLimit` (ASI-THR-05).
    public var meteredBandwidth: BandwidthLimit?
    /// What the fetches of each origin may take together. Default: no limit.
    public var bandwidthPerHost = BandwidthLimit.none
    /// How it is found out what kind of network there is, where that matters: for fetches that wait for one
    /// (``RequestOptions/waitsForConnectivity``) and for ``meteredBandwidth``.
    public var network = NetworkMonitor.Settings()
    /// How long a name that has no address is not asked for again, for all workers; zero asks each time. Default 5 s. A
    /// fetch that is tried again asks, but no more than one a second does. A change of the network ends it.
    public var unknownNameLifetime = Duration.seconds(5)
    /// The worker executable; nil looks for `trawl-worker` beside the running executable, then on `PATH`.
    public var workerExecutable: String?
    /// Whether ``workerExecutable`` is the program that is running: it is started as it is even when its file is
    /// replaced.
    package var workerIsOwnProgram = false
    /// Arguments for the worker executable, after its name.
    public var workerArguments: [String] = []
    /// The environment of the workers, as `NAME=value`; nil is a copy of this process's, byte for byte.
    public var workerEnvironment: [String]?
    /// Directories beneath which workers create files themselves, when the first byte of a body has come: that it
    /// cannot be done shows then, but for methods that are not idempotent, such as POST, for which it is looked at
    /// before. A destination elsewhere is opened by this process before anything is sent, and handed to the worker,
    /// which costs a little more, and two descriptors also while the fetch waits. They must exist, and stay at their
    /// paths: a worker that is started in another's place takes no other directory for one of them.
    public var outputDirectories: [String] = []
    /// Where cache, cookies and hosts that want secure transport are kept. Default ``Store/shared``.
    public var store = Store.shared
    /// How the response cache works.
    public var cache = Cache()
    /// How cookies are kept.
    public var cookies = Cookies()
    /// A cache of the program's own in place of the store's; nil uses the store's. It serves what
    /// ``Coordinator/send(_:)`` fetches into memory; other fetches use no cache then.
    public var downloadCache: (any DownloadCache)?
    /// Which proxies are used by requests that do not say it. Default: none.
    public var proxy = ProxyPolicy.direct
    /// Decides what a program may decide; nil leaves everything to the rules.
    public var decisions: (any FetchDecisions)?
    /// Whether hosts that ask for secure transport only get it (RFC 6797). Default true. They are remembered in the
    /// store, for all programs that use it; without one as long as the coordinator lives.
    public var usesHSTS = true
    /// A file with such hosts in the form of curl's `--hsts`, read at the start and written at the shutdown; nil is the
    /// store. One that cannot be written then is left as it is.
    public var hstsFile: String?
    /// How long a suspended fetch keeps its connection (``Fetch/suspend()``). Resumed later it asks for the rest of the
    /// body, where the server supports that. Default 30 s.
    public var suspendedConnectionLifetime = Duration.seconds(30)
    /// How long a program's decision may take before the fetch fails, but for one about credentials. Default 30 s.
    public var decisionTimeout = Duration.seconds(30)
    /// Asks a person for credentials; nil asks nobody.
    public var prompt: (any CredentialPrompt)?
    /// Where credentials are kept for good; nil is nowhere.
    public var vault: (any CredentialVault)?
    /// The `User-Agent` of requests that have none; nil generates one from the program's name and the system.
    public var userAgent: String?
    /// A language tag for the generated `User-Agent`; empty leaves it out.
    public var locale = ""
    /// How long a shutdown lets fetches in flight go on. Default: not at all.
    public var shutdownGrace = Duration.zero

    /// How long a shutdown waits for validations of what was served stale, with nobody waiting for them: for each that
    /// ends as long again, and three times as long in all. For programs that end as soon as they have their answer.
    package var validationGrace = Duration.zero

    /// Where the coordinator tells what it is doing. Default: nowhere.
    public var statusSocket = StatusSocket.none
    /// What the program is called there; nil is the name of its executable.
    public var programName: String?
    /// A file in which metrics stand; nil is none, and then times are not measured.
    public var metricsFile: MetricsFile?
    /// Who is told step by step what happens; nil is nobody.
    public var debugLog: DebugLog?

    /// When workers are given up, and waits for identical fetches.
    package var tolerance = Tolerance()

    /// The defaults.
    public init() {}

    /// The defaults of this library.
    public static var `default`: Configuration { Configuration() }

    /// The defaults, changed by the environment: `TRAWL_WORKERS`, `TRAWL_WORKER_EXECUTABLE`, `TRAWL_USER_AGENT` and the
    /// language of `LC_ALL`, `LC_MESSAGES` or `LANG`; and the proxies, as ``ProxyPolicy/fromEnvironment()`` has them.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` for a variable that is set and makes no sense, such as a number of workers
    ///   that is none from 0 to 64.
    public static func fromEnvironment() throws(FetchError) -> Configuration {
        var configuration = Configuration()
        if let text = variable("TRAWL_WORKERS") {
            guard let workers = Int(text), (0...64).contains(workers) else {
                throw FetchError(.badRequest, "TRAWL_WORKERS is not a number from 0 to 64: \(text.terminalSafe)")
            }
            configuration.workers = workers
        }
        configuration.workerExecutable = variable("TRAWL_WORKER_EXECUTABLE")
        configuration.userAgent = variable("TRAWL_USER_AGENT")
        let locale = variable("LC_ALL") ?? variable("LC_MESSAGES") ?? variable("LANG") ?? ""
        configuration.proxy = try ProxyPolicy.fromEnvironment()
        configuration.locale = String(locale.prefix { $0 != "." && $0 != "@" })
        return configuration
    }

    /// What is wrong with the configuration, or nil.
    func problem() -> String? {
        if !(0...64).contains(workers) { return "workers must be 0 to 64, not \(workers)" }
        if !(1...1024).contains(transfersPerWorker) {
            return "transfers per worker must be 1 to 1024, not \(transfersPerWorker)"
        }
        if case .directory(let path) = store, path.isEmpty || path.utf8.contains(0) {
            return "the store directory has no usable path"
        }
        if let hstsFile, hstsFile.isEmpty || hstsFile.utf8.contains(0) {
            return "the file of hosts that want secure transport has no usable path"
        }
        if let problem = ProxyTerms.problem(proxy) { return problem }
        if let problem = metricsFile?.problem { return problem }
        if let userAgent, !FieldSyntax.isFieldValue(userAgent) { return "the user agent holds CR, LF or NUL" }
        if connectionsPerHost < 0 { return "connections per host must be 0 or more, not \(connectionsPerHost)" }
        if let problem = politeness.problem { return problem }
        if let problem = bandwidth.problem ?? meteredBandwidth?.problem ?? bandwidthPerHost.problem { return problem }
        if let problem = durationProblem { return problem }
        if outputDirectories.count > 64 { return "there may be 64 output directories, not \(outputDirectories.count)" }
        return nil
    }

    /// The first of the configuration's own times that is negative, or nil.
    private var durationProblem: String? {
        let times = [
            ("unknown name lifetime", unknownNameLifetime),
            ("suspended connection lifetime", suspendedConnectionLifetime), ("decision timeout", decisionTimeout),
            ("shutdown grace", shutdownGrace), ("timeout of the network's probe", network.probe?.timeout ?? .zero),
        ]
        // The time itself is not told: one of more seconds than 64 bits hold has no description.
        return times.first { $0.1 < .zero }.map { "the \($0.0) must not be negative" }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
