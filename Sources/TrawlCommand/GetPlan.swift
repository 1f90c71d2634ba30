import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// What a `get` is to do, checked: everything but the URLs of the list.
struct GetPlan {
    /// Where bodies go.
    enum Output: Equatable {
        case standardOutput
        /// The n-th argument to the n-th `-o`.
        case named
        /// Names from URLs, or from the list's second column.
        case remoteNames
    }

    let template: Request
    let output: Output
    /// Whether there is one URL and no list: then the statuses are curl's.
    let isSingle: Bool
    /// One at a time, with the bodies passing through this process where they have to.
    let isSequential: Bool
    /// Those of the arguments, each with the file of its `-o` and the body of its `-T` where there is one.
    let requests: [ListedRequest]
    /// Those whose `-o` an earlier one has too, which write to a file of another name.
    let renamed: [ListedRequest]
    let list: String?
    /// Absolute; where remote names go.
    let directory: String
    /// The same as it was given; nil is the working directory, unsaid.
    let shownDirectory: String?
    let writesHeads: Bool
    /// Whether bodies do not matter, whatever the method is.
    let wantsHeadsAlone: Bool
    /// Where heads go besides; `-` is standard output.
    let headFile: String?
    let namesFromHeads: Bool
    let failsOnErrorStatus: Bool
    /// Whether the body of such a response is dropped.
    let dropsErrorBodies: Bool
    /// Whether `-o -` was said: then binary bytes may go to a terminal.
    let allowsBinaryOnTerminal: Bool
    let writeOut: WriteOut?
    let report: ReportArguments
    let parallel: Int
    let configuration: Configuration
    let cookieFiles: CookieFiles?
    /// Whether what keeps one body from being written, as a full disk, keeps the others: files that `-o` names one by
    /// one may be on as many disks.
    var sharesOutput: Bool { output != .named }

    init(_ command: GetCommand) throws(CommandError) {
        try Self.checkCounts(command)
        try Self.checkList(command.output.inputFile)
        let arguments = command.output
        report = command.report
        list = arguments.inputFile
        try command.authentication.check(list: arguments.inputFile)
        isSingle = command.endsLikeCurl
        failsOnErrorStatus = arguments.failsOnErrorStatus
        dropsErrorBodies = arguments.fail
        writesHeads = arguments.include || command.request.head
        wantsHeadsAlone = command.request.head
        allowsBinaryOnTerminal = arguments.outputs.contains("-")

        if arguments.outputs.allSatisfy(LocalPath.isStandardOutput),
            !arguments.outputs.isEmpty || !(arguments.namesFromURL || arguments.directory != nil || list != nil)
        {
            output = .standardOutput
        } else if arguments.outputs.isEmpty {
            output = .remoteNames
        } else {
            output = .named
        }
        namesFromHeads = arguments.headerName && output == .remoteNames
        let outputs = output == .named ? arguments.outputs : []
        let query = try command.request.query { path throws(CommandError) in try StandardStreams.readAll(path) }
        headFile = arguments.headFile
        // What is shown of one conversation is not to be mixed with another.
        let passesThrough =
            output == .standardOutput || writesHeads || headFile != nil || namesFromHeads || report.verbose
            || outputs.contains { LocalPath.isStandardOutput($0) || LocalPath.standsForOpenFile($0) }
        isSequential = isSingle || passesThrough

        shownDirectory = arguments.directory
        directory = try Self.directory(arguments, isStandardOutput: output == .standardOutput)
        template = try RunSetup.template(command.request, of: command, failsOnErrorStatus: failsOnErrorStatus)
        requests = try Self.requests(
            command, query: query, names: Self.distinct(outputs, in: directory),
            uploadMethod: template.method == nil ? Request.Method.put.name : nil)
        renamed = zip(requests, outputs).filter { $0.out != $1 }.map { $0.0 }
        cookieFiles = command.cookies.files
        writeOut = try RunSetup.writeOut(report)
        parallel = isSequential ? 1 : command.pool.parallel?.value ?? (list == nil ? min(requests.count, 64) : 64)
        var configuration = try RunSetup.configuration(
            command, name: "get", parallel: parallel,
            root: !isSequential && output == .remoteNames ? directory : nil)
        configuration.transfersInAll = parallel
        command.tls.apply(to: &configuration)
        self.configuration = configuration
    }

    /// Said last, behind what is no option: the value of an unknown one is taken for a URL.
    private static func checkCounts(_ command: GetCommand) throws(CommandError) {
        let (urls, outputs) = (command.allURLs.count, command.output.outputs.count)
        if command.output.inputFile != nil, urls == 0 { return }
        if urls == 0 { throw CommandError("no URL is given (see: trawl help get)") }
        if outputs > urls, command.output.inputFile == nil {
            throw CommandError("there are more -o than URLs (see: trawl help get)")
        }
        if urls > 1, outputs > 0, outputs < urls {
            throw CommandError("there are fewer -o than URLs (see: trawl help get)")
        }
        if command.uploads.count > urls { throw CommandError("there are more -T than URLs (see: trawl help get)") }
    }

    /// Throws when there is no such list: curl's `-i` has no value, and its users write a URL behind it.
    private static func checkList(_ list: String?) throws(CommandError) {
        guard let list, list != "-", access(list, F_OK) != 0, errno == ENOENT else { return }
        let reason = SystemError.reason(ENOENT)
        throw CommandError(
            "-i: \(FailureText.url(list)): \(reason) (-i is a list of URLs; heads are written by --include)")
    }

    /// The n-th URL with the n-th name and the n-th file to send, as in curl: URLs behind the last file are fetched.
    ///
    /// - Parameters:
    ///   - query: What is added to all URLs.
    ///   - uploadMethod: What files are sent by, where no method is named.
    private static func requests(
        _ command: GetCommand, query: String?, names: [String], uploadMethod: String?
    ) throws(CommandError) -> [ListedRequest] {
        var requests: [ListedRequest] = []
        for (index, given) in command.allURLs.enumerated() {
            var url = URLText.adding(query: query, to: URLText.completed(given))
            let out = names.indices.contains(index) ? names[index] : nil
            guard command.uploads.indices.contains(index) else {
                requests.append(ListedRequest(url: url, out: out))
                continue
            }
            let file = command.uploads[index]
            if file != "-" { url = URLText.adding(name: LocalPath.name(of: file), to: url) }
            let own = ListedRequest.OwnTerms(
                method: uploadMethod, headers: FieldLines(), body: try StandardStreams.readAll(file), follows: nil,
                maxRedirects: nil, timeout: nil)
            requests.append(
                ListedRequest(url: url, id: nil, out: out, own: own, key: RequestKey(url: url, out: out)))
        }
        return requests
    }

    /// The names of `-o`, with a number where an earlier one is the same: `NAME`, `NAME.1`, `NAME.2`. What is no file,
    /// such as a pipe, takes any number of bodies.
    private static func distinct(_ outputs: [String], in directory: String) -> [String] {
        var taken: Set<ExactText> = []
        var numbers: [ExactText: Int] = [:]
        return outputs.map { name in
            let path = LocalPath.placed(name, in: directory)
            if LocalPath.isStandardOutput(name) || LocalPath.isOtherThanFile(path) { return name }
            let key = ExactText(path)
            if taken.insert(key).inserted { return name }
            var number = numbers[key] ?? 1
            while !taken.insert(ExactText("\(path).\(number)")).inserted { number += 1 }
            numbers[key] = number + 1
            return "\(name).\(number)"
        }
    }

    /// The absolute path of an output's name.
    func path(_ name: String) throws(CommandError) -> String {
        try Self.naming(name) { () throws(SystemError) in try LocalPath.absolute(name, in: directory) }
    }

    private static func directory(
        _ arguments: OutputArguments, isStandardOutput: Bool
    ) throws(CommandError) -> String {
        guard let name = arguments.directory, name != "." else {
            // A working directory that is gone or closed matters to who writes there.
            let writesNothing = arguments.outputs.allSatisfy { $0.hasPrefix("/") || LocalPath.isStandardOutput($0) }
            if writesNothing, isStandardOutput || !arguments.outputs.isEmpty {
                return try prepared((try? WorkingDirectory.path()) ?? "/", arguments)
            }
            let directory = try naming("the working directory") { () throws(SystemError) in
                try WorkingDirectory.path()
            }
            return try prepared(directory, arguments)
        }
        let directory = try naming(name) { () throws(SystemError) in try LocalPath.absolute(name) }
        return try prepared(directory, arguments)
    }

    private static func prepared(_ directory: String, _ arguments: OutputArguments) throws(CommandError) -> String {
        if arguments.createsDirectories {
            // As in curl: downloads are not for everybody on this machine.
            let mode: mode_t = 0o750
            if let name = arguments.directory {
                try naming(name) { () throws(SystemError) in try LocalPath.makeDirectories(directory, mode: mode) }
            }
            for name in arguments.outputs where !LocalPath.isStandardOutput(name) {
                try naming(name) { () throws(SystemError) in
                    try LocalPath.makeDirectories(
                        LocalPath.parent(try LocalPath.absolute(name, in: directory)), mode: mode)
                }
            }
        }
        if let name = arguments.directory {
            try naming(name) { () throws(SystemError) in try LocalPath.checkDirectory(directory) }
        }
        return directory
    }

    /// Does something to a file or directory; what keeps it from being done is told with the name as it was given.
    private static func naming<Value>(
        _ name: String, _ body: () throws(SystemError) -> Value
    ) throws(CommandError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw CommandError(
                file: name, error.errno, status: ExitStatus.cannotCreate, curlStatus: ExitStatus.Curl.writeError)
        }
    }
}
