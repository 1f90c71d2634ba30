import Glibc
import Trawl
import TrawlPlatform

/// What a `pipe` is to do, checked.
struct PipePlan {
    /// The longest line, in bytes: a body of 190 MB in Base64. Memory is taken as lines are that long, not before.
    static let longestLine = 256 << 20

    let template: Request
    /// Requests that are taken before one of them is answered: those in flight, and as many that wait for their turn.
    let lookAhead: Int
    let isSilent: Bool
    let configuration: Configuration

    init(_ command: PipeCommand) throws(CommandError) {
        isSilent = command.pipe.silent
        var template = Request("")
        if let file = command.tls.unreadableFile({ access($0, R_OK) == 0 }) {
            throw CommandError("\(file.terminalSafe): \(SystemError.reason(errno))")
        }
        command.transfer.apply(to: &template.options)
        command.tls.apply(to: &template.options.transport)
        template.options.redirects.mode = .standard
        if let userAgent = command.pipe.userAgent {
            if userAgent.isEmpty {
                template.options.omittedFields.append("User-Agent")
            } else {
                template.options.userAgent = userAgent
            }
        }
        try FieldArgument.apply(command.pipe.headers, to: &template) { path throws(CommandError) in
            if path == "-" { throw CommandError("-H @-: standard input is for requests") }
            return try StandardStreams.readAll(path)
        }
        if let refused = template.fields.refused { throw CommandError("-H: the field line \(refused) cannot be sent") }
        self.template = template
        let parallel = command.pool.parallel?.value ?? 128
        lookAhead = 2 * parallel
        var configuration = try RunSetup.configuration(command.pool, parallel: parallel, root: nil)
        configuration.connectionsPerHost = command.pool.perHost?.value ?? 0
        configuration.transfersInAll = parallel
        self.configuration = configuration
    }
}
