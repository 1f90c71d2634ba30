import Glibc
import Trawl
import TrawlPlatform

/// What a `get` is to do, checked: everything but the URLs of the list.
struct GetPlan {
    /// Where bodies go.
    enum Output: Equatable {
        case standardOutput
        /// The n-th argument to the n-th of these.
        case named([String])
        /// Names from URLs, or from the list's second column.
        case remoteNames
    }

    let template: Request
    let output: Output
    /// Whether there is one URL and no list: then the statuses are curl's.
    let isSingle: Bool
    /// One at a time, with the bodies passing through this process where they have to.
    let isSequential: Bool
    let urls: [String]
    let list: String?
    /// Absolute; where remote names go.
    let directory: String
    let writesHeads: Bool
    let namesFromHeads: Bool
    let failsOnErrorStatus: Bool
    /// Whether `-o -` was said: then binary bytes may go to a terminal.
    let allowsBinaryOnTerminal: Bool
    let writeOut: WriteOut?
    let report: ReportArguments
    let parallel: Int
    let configuration: Configuration

    init(_ command: GetCommand) throws(CommandError) {
        let arguments = command.output
        report = command.report
        urls = command.urls
        list = arguments.inputFile
        isSingle = list == nil && urls.count == 1
        failsOnErrorStatus = arguments.fail
        namesFromHeads = arguments.headerName
        writesHeads = arguments.include || command.request.head
        allowsBinaryOnTerminal = arguments.outputs.contains("-")

        if arguments.outputs.allSatisfy(LocalPath.isStandardOutput),
            !arguments.outputs.isEmpty || !(arguments.namesFromURL || arguments.directory != nil || list != nil)
        {
            output = .standardOutput
        } else if arguments.outputs.isEmpty {
            output = .remoteNames
        } else {
            output = .named(arguments.outputs)
        }
        var passesThrough = output == .standardOutput || writesHeads || namesFromHeads
        if case .named(let names) = output,
            names.contains(where: { LocalPath.isStandardOutput($0) || LocalPath.isSpecial($0) })
        {
            passesThrough = true
        }
        isSequential = isSingle || passesThrough

        directory = try Self.directory(arguments)
        template = try RunSetup.template(command.request, command.transfer, command.tls)
        if let format = command.report.writeOut {
            var text = format
            if format.hasPrefix("@") {
                text = String(
                    decoding: try StandardStreams.readAll(String(format.dropFirst()), limit: 1 << 20), as: UTF8.self)
            }
            writeOut = try WriteOut(text)
        } else {
            writeOut = nil
        }
        parallel = isSequential ? 1 : command.pool.parallel?.value ?? (list == nil ? min(urls.count, 64) : 64)
        configuration = try RunSetup.configuration(
            command.pool, parallel: parallel, root: !isSequential && output == .remoteNames ? directory : nil)
    }

    /// The absolute path of an output's name.
    func path(_ name: String) throws(CommandError) -> String {
        do throws(SystemError) {
            return try LocalPath.absolute(name, in: directory)
        } catch {
            throw CommandError(
                "\(name.terminalSafe): \(SystemError.reason(error.errno))", status: ExitStatus.cannotCreate)
        }
    }

    private static func directory(_ arguments: OutputArguments) throws(CommandError) -> String {
        do throws(SystemError) {
            guard let name = arguments.directory, name != "." else {
                return try prepared(LocalPath.current(), arguments)
            }
            return try prepared(LocalPath.absolute(name), arguments)
        } catch {
            let name = arguments.directory ?? "the output directory"
            throw CommandError(
                "\(name.terminalSafe): \(SystemError.reason(error.errno))", status: ExitStatus.cannotCreate)
        }
    }

    private static func prepared(_ directory: String, _ arguments: OutputArguments) throws(SystemError) -> String {
        if arguments.createsDirectories {
            if arguments.directory != nil { try LocalPath.makeDirectories(directory) }
            for name in arguments.outputs where !LocalPath.isStandardOutput(name) {
                try LocalPath.makeDirectories(LocalPath.parent(try LocalPath.absolute(name, in: directory)))
            }
        }
        var info = stat()
        guard arguments.directory != nil else { return directory }
        guard stat(directory, &info) == 0 else { throw SystemError(errno: errno, call: "stat") }
        guard info.st_mode & S_IFMT == S_IFDIR else { throw SystemError(errno: ENOTDIR, call: "stat") }
        return directory
    }
}
