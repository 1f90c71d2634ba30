import ArgumentParser

/// `trawl batch [FILE|-]`
struct BatchCommand: FetchingCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Fetch a list of any length into files, every URL exactly once.",
        discussion: """
            The list has one URL a line, or URL, a tab and a file name, or one JSON object a line with url and, where \
            wanted, id, method, headers, body or body_base64, out, timeout, redirect, max_redirects, cache_policy and \
            auth. It is read as it is needed, compressed by gzip or not.

            Bodies are written beneath --out, by default to HOST/PATH. A file that is there already is never replaced: \
            the new one is NAME.1. With --results each request leaves one JSON record; a run with the same results file \
            skips what has a record there and does the rest, however the run before ended. Redirects are followed.

            Exit status: 0 all fetched, or nobody reads the results of --results - or a named pipe any more, 1 some \
            failed, 2 wrong usage or a file named by an option cannot be read, 69 no worker can run, 73 or 74 files \
            cannot be made or written, 75 stopped by a signal, or since nobody reads what -w prints any more: the same \
            command goes on, 77 another passphrase of the vault, 78 no vault, or a variable of the environment makes \
            no sense.
            """)

    @Argument(help: ArgumentHelp("The list; '-' or nothing is standard input.", valueName: "file"), completion: .file())
    var list = "-"

    @OptionGroup(title: "Batch options") var batch: BatchArguments
    @OptionGroup(title: "Request options") var request: RequestArguments
    @OptionGroup(title: "Authentication options") var authentication: AuthenticationArguments
    @OptionGroup(title: "Cache options") var cache: CacheArguments
    @OptionGroup(title: "Cookie options") var cookies: CookieArguments
    @OptionGroup(title: "Transfer options") var transfer: TransferArguments
    @OptionGroup(title: "Retry options") var retry: RetryArguments
    @OptionGroup(title: "Proxy options") var proxy: ProxyArguments
    @OptionGroup(title: "TLS options") var tls: TLSArguments
    @OptionGroup(title: "Pool options") var pool: PoolArguments
    @OptionGroup(title: "Watching options") var watch: WatchArguments
    @OptionGroup(title: "Message options") var report: ReportArguments
    @OptionGroup(title: "Debugging options") var debug: DebugArguments

    func validate() throws {
        if report.verbose { throw ValidationError("-v is for trawl get; what became of a request is in the results") }
        if request.dataInQuery {
            throw ValidationError("-G is for the URLs given to trawl get; those of a list are taken as they are")
        }
        guard let results = batch.results, LocalPath.isStandardOutput(results) else { return }
        if report.writeOut != nil { throw ValidationError("-w and --results cannot both have standard output") }
        if cookies.files?.writesStandardOutput == true {
            throw ValidationError("-c and --results cannot both have standard output")
        }
    }

    func execute() throws(CommandError) -> Int32 {
        try BatchRun.run(BatchPlan(self))
    }
}
