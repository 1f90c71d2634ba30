/// A subcommand that fetches, with the options that all of them have.
protocol FetchingCommand: RunnableCommand {
    var authentication: AuthenticationArguments { get }
    var cache: CacheArguments { get }
    var cookies: CookieArguments { get }
    var transfer: TransferArguments { get }
    var retry: RetryArguments { get }
    var proxy: ProxyArguments { get }
    var tls: TLSArguments { get }
    var pool: PoolArguments { get }
    var debug: DebugArguments { get }
}
