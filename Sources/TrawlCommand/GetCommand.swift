import ArgumentParser
import Trawl

/// `trawl get URL…`
struct GetCommand: FetchingCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        // Where it is parsed alone, the parser then does not look for requests for completions first.
        _superCommandName: "trawl",
        abstract: "Fetch URLs to standard output or into files.",
        discussion: """
            Bodies go to standard output, one after the other; with -o, -O, --output-dir or -i they go into files, \
            several at a time. Options are spelled as in curl, except -i: it is the input file, as in wget, and heads \
            are written by --include. Redirects are followed with -L. A URL without a scheme is taken for http.

            Two URLs with the same file name in one run do not overwrite each other: the second file is NAME.1.

            Exit status for a single URL: as curl's. For several: 0 all fetched, 1 some failed, 2 wrong usage or a file \
            named by an option cannot be read (26: one of -K), 69 no worker can run, 73 or 74 files cannot be made or written, 75 stopped, \
            77 another passphrase of the vault, 78 no vault, or a variable of the environment makes no sense.
            """)

    @Argument(help: ArgumentHelp("What to fetch.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: .customLong("url"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Fetch this too. Repeatable.", valueName: "url"))
    var namedURLs: [String] = []

    @Option(
        name: [.customShort("T", allowingJoined: true), .customLong("upload-file")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "PUT this file to the first URL, that of a second -T to the second, and so on; '-' is standard input. A URL "
                + "that ends with a slash gets the file's name.",
            valueName: "file"), completion: .file())
    var uploads: [String] = []

    @OptionGroup(title: "Request options") var request: RequestArguments
    @OptionGroup(title: "Output options") var output: OutputArguments
    @OptionGroup(title: "Authentication options") var authentication: AuthenticationArguments
    @OptionGroup(title: "Cache options") var cache: CacheArguments
    @OptionGroup(title: "Cookie options") var cookies: CookieArguments
    @OptionGroup(title: "Transfer options") var transfer: TransferArguments
    @OptionGroup(title: "Retry options") var retry: RetryArguments
    @OptionGroup(title: "Proxy options") var proxy: ProxyArguments
    @OptionGroup(title: "TLS options") var tls: TLSArguments
    @OptionGroup(title: "Pool options") var pool: PoolArguments
    @OptionGroup(title: "Message options") var report: ReportArguments
    @OptionGroup(title: "Debugging options") var debug: DebugArguments

    /// All URLs but those of a list.
    var allURLs: [String] { urls + namedURLs }

    func validate() throws {
        if allURLs.contains("") { throw ValidationError("a URL is empty") }
        if request.dataInQuery, output.inputFile != nil { throw ValidationError("-G and -i exclude each other") }
        if !uploads.isEmpty, output.inputFile != nil { throw ValidationError("-T and -i exclude each other") }
        if !uploads.isEmpty, request.hasBody { throw ValidationError("-T and --data exclude each other") }
        if !uploads.isEmpty, request.head { throw ValidationError("-I and -T exclude each other") }
        // Heads come before the one that names the file.
        if output.headerName, output.include || request.head {
            throw ValidationError("-J and \(output.include ? "--include" : "-I") exclude each other; -D writes heads")
        }
        if uploads.contains("") { throw ValidationError("-T wants a file") }
        if output.headFile?.isEmpty == true { throw ValidationError("-D wants a file") }
    }

    /// Whether there is one URL and no list: then exit statuses are curl's.
    var endsLikeCurl: Bool { output.inputFile == nil && allURLs.count == 1 }

    func execute() throws(CommandError) -> Int32 {
        let plan = try GetPlan(self)
        let console = Console(plan.report)
        for request in plan.renamed {
            console.note("\(FailureText.url(request.url)): written to \((request.out ?? "").terminalSafe)")
        }
        return plan.isSequential ? try SequentialRun.run(plan) : try BatchRun.run(BatchPlan(plan))
    }
}
