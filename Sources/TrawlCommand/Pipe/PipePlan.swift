import Trawl

/// What a `pipe` is to do, checked.
struct PipePlan {
    /// The longest line, in bytes: a body of 190 MB in Base64. Memory is taken as lines are that long, and given back.
    static let longestLine = 256 << 20

    let template: Request
    /// Requests that are taken before one of them is answered: those in flight, and as many that wait for their turn.
    let lookAhead: Int
    /// Bytes that bodies may take which are being received or wait to be written; and responses that wait, heads
    /// included, before no more requests are read.
    let memory: Int
    let isSilent: Bool
    let configuration: Configuration
    let cookieFiles: CookieFiles?

    init(_ command: PipeCommand) throws(CommandError) {
        try command.authentication.check(list: "-")
        try Self.checkStreams(command)
        isSilent = command.pipe.silent
        cookieFiles = command.cookies.files
        template = try RunSetup.template(
            command
        ) { request throws(CommandError) in
            request.options.redirects.mode = .standard
            request.options.setUserAgent(command.pipe.userAgent)
            try FieldArgument.apply(command.pipe.headers, to: &request) { path throws(CommandError) in
                try StandardStreams.readAll(path)
            }
        }
        let parallel = command.pool.parallel?.value ?? 128
        lookAhead = 2 * parallel
        var configuration = try RunSetup.configuration(
            command, name: "pipe", parallel: parallel, perHost: 0, root: nil, longestRetryAfter: .zero)
        configuration.transfersInAll = parallel
        memory = command.pipe.memory ?? 64 << 20
        configuration.memoryBudget = memory
        // A program speaks here: what its proxy asks is no business of a person who happens to have a terminal.
        if !command.authentication.asksForServers { configuration.prompt = nil }
        command.tls.apply(to: &configuration)
        try command.watch.apply(to: &configuration)
        self.configuration = configuration
    }

    /// Refuses options that want standard input or output, before anything is read: who writes requests may wait for
    /// answers, and never end the input.
    private static func checkStreams(_ command: PipeCommand) throws(CommandError) {
        let files = command.cookies.files
        let readers = [
            ("-H @-", command.pipe.headers.contains(.file("-"))),
            ("--proxy-header @-", command.proxy.headers.contains(.file("-"))),
            ("--vault-passphrase-file -", command.authentication.storage.passphraseFile == "-"),
            ("-b -", files?.inputs.contains("-") == true),
        ]
        if let (option, _) = readers.first(where: { $0.1 }) {
            throw CommandError("\(option): standard input is for requests")
        }
        if files?.writesStandardOutput == true { throw CommandError("-c -: standard output is for responses") }
    }
}
