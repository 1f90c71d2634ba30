import ArgumentParser

/// `trawl pipe`
struct PipeCommand: FetchingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipe",
        abstract: "Answer requests of another program: JSON lines in, JSON lines out.",
        discussion: """
            Each line of standard input is a request, a JSON object with url and, where wanted, id, method, headers, body \
            or body_base64, redirect, max_redirects, timeout, cache_policy and auth. Each is answered by one line of \
            standard output, as soon as it is there: id, url, status, reason, headers, from_cache, error and body_base64. \
            docs/pipe.md has it all.

            128 fetches run at a time (-j), without a limit for one host (--per-host). Redirects are followed unless a \
            request says otherwise.

            Exit status: 0 at the end of the input or when nobody reads the answers, 2 wrong usage or a file named by an \
            option cannot be read, 69 no worker can run, 73 a status socket or metrics file cannot be made, 74 standard \
            input or output is broken, 75 stopped by a signal, 77 another passphrase of the vault, 78 no vault, or a \
            variable of the environment makes no sense.
            """)

    @OptionGroup(title: "Pipe options") var pipe: PipeArguments
    @OptionGroup(title: "Authentication options") var authentication: AuthenticationArguments
    @OptionGroup(title: "Cache options") var cache: CacheArguments
    @OptionGroup(title: "Cookie options") var cookies: CookieArguments
    @OptionGroup(title: "Transfer options") var transfer: TransferArguments
    @OptionGroup(title: "Retry options") var retry: RetryArguments
    @OptionGroup(title: "Proxy options") var proxy: ProxyArguments
    @OptionGroup(title: "TLS options") var tls: TLSArguments
    @OptionGroup(title: "Pool options") var pool: PoolArguments
    @OptionGroup(title: "Watching options") var watch: WatchArguments
    @OptionGroup(title: "Debugging options") var debug: DebugArguments

    func execute() throws(CommandError) -> Int32 {
        try PipeRun.run(PipePlan(self))
    }
}
