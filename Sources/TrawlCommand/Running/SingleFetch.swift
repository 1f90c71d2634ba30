import Glibc
import Synchronization
import Trawl
import TrawlHTTP
import TrawlPlatform

/// One fetch of a sequential run, from its start to its exit code.
///
/// Bound to one thread.
struct SingleFetch {
    let request: ListedRequest
    /// Where it was named, for messages.
    let place: String
    let plan: GetPlan
    let coordinator: Coordinator
    let console: Console
    let progress: ProgressDisplay

    var writer: BodyWriter?
    /// The file's path, once it is known.
    var path: String?
    /// The file's name as it was given, once it is known.
    var fileName: String?
    /// What has come of heads.
    var seen = SeenHeads()
    /// What the attempt under way sends, where that is shown.
    var sent: SentRequest?
    var received: UInt64 = 0
    /// Whether the body comes without codings that its announced length has: progress is then that of the wire.
    var isDecoded = false
    /// Why the fetch was ended by this side, with its exit code.
    var refusal: (message: String, code: Int32)?
    /// Takes the heads for `-D`; nil once nobody reads them.
    var heads: BodyWriter?
    /// Whether the head came that is all there is to come: the fetch was ended by this side.
    var isEnough = false
    /// Who reads bodies has closed standard output.
    var outputIsClosed = false
    /// Who reads what `-w` prints, and no bodies, has.
    var printsAreClosed = false
    var outputIsBroken = false

    init(
        _ request: ListedRequest, _ place: String, _ plan: GetPlan, _ coordinator: Coordinator, _ console: Console,
        _ progress: ProgressDisplay, heads: BodyWriter?
    ) {
        self.request = request
        self.place = place
        self.plan = plan
        self.coordinator = coordinator
        self.console = console
        self.progress = progress
        self.heads = heads
    }

    /// Fetches.
    ///
    /// - Parameters:
    ///   - names: The file names given so far.
    ///   - announce: Told the fetch while it runs.
    /// - Returns: curl's exit code.
    mutating func run(names: inout FileNames, announce: (Fetch) -> Void) -> Int32 {
        var request = self.request.own.map(plan.template.changed) ?? plan.template
        request.url = self.request.url
        let destination: Destination
        do throws(CommandError) {
            destination = try self.destination(&names)
        } catch {
            console.failure(error.message)
            return plan.isSingle ? error.curlStatus : error.status
        }
        progress.state.withLock {
            $0 = .single(.init(name: FileName.ofURL(request.url), received: 0, expected: nil))
        }
        var result: Result<Response, FetchError>?
        let fetch = coordinator.start(request, into: destination)
        announce(fetch)
        while let event = fetch.nextEventBlocking() { handle(event, of: fetch, &result, names: &names) }
        var outcome = result
        // What became of the rest is chance: it was not waited for.
        if isEnough, case .failure? = result { outcome = nil }
        let code = settle(outcome)
        var values = WriteOutValues(
            url: UserInformation.removed(from: request.url), method: request.effectiveMethod.name, exitCode: code,
            total: fetch.exchangeStart?.duration(to: MonotonicClock.now()) ?? .zero)
        values.referer = request.fields["Referer"] ?? ""
        if case .success(let response) = result { values.response = response }
        if case .failure(let error) = result { values.error = error }
        values.seen = seen
        values.message = refusal?.message ?? ""
        values.fileName = fileName.map { LocalPath.placed($0, in: plan.shownDirectory) }
        if !outputIsClosed {
            do throws(SystemError) {
                try plan.writeOut?.write(values, on: console)
            } catch {
                // Whoever reads bodies there as well has seen enough of both.
                if error.errno == EPIPE {
                    if plan.output == .standardOutput { outputIsClosed = true } else { printsAreClosed = true }
                }
            }
        }
        return code
    }

    // MARK: Where the body goes

    private mutating func destination(_ names: inout FileNames) throws(CommandError) -> Destination {
        switch plan.output {
        case .standardOutput:
            writer = .standardOutput()
            return .stream
        case .remoteNames:
            if plan.namesFromHeads, request.out == nil { return .stream }
            fileName = try unusedName(request.out ?? FileName.ofURL(request.url), &names)
        case .named:
            guard let name = request.out else {
                throw CommandError("no file name for \(FailureText.url(request.url))")
            }
            if LocalPath.isStandardOutput(name) {
                writer = .standardOutput()
                return .stream
            }
            fileName = name
        }
        guard let fileName else { throw CommandError("no file name for \(FailureText.url(request.url))") }
        let path = try plan.path(fileName)
        self.path = path
        if plan.output == .remoteNames { try makeDirectories(for: fileName) }
        if plan.writesHeads || LocalPath.standsForOpenFile(path) {
            do throws(SystemError) {
                writer = try BodyWriter.file(path, replaces: true)
            } catch {
                throw CommandError(
                    "\(path.terminalSafe): \(SystemError.reason(error.errno))", status: ExitStatus.Curl.writeError)
            }
            return .stream
        }
        var options = Destination.FileOptions()
        options.createsEmptyFile = true
        options.savesErrorBodies = true
        options.dropsErrorBodies = plan.dropsErrorBodies
        return .file(path, options: options)
    }

    /// Makes the directories that a name of the list needs, as workers do: none is reached by a link.
    private func makeDirectories(for name: String) throws(CommandError) {
        guard name.utf8.contains(UInt8(ascii: "/")) else { return }
        do throws(SystemError) {
            let root = try OutputRoot(path: plan.directory)
            do throws(OutputError) {
                try root.makeDirectories(for: name)
            } catch {
                throw error.systemError
            }
        } catch {
            throw CommandError(
                "\(place)\(LocalPath.joined(plan.directory, name).terminalSafe): \(SystemError.reason(error.errno))",
                status: ExitStatus.Curl.writeError)
        }
    }

    /// The name, or with a number where another of this run has it.
    func unusedName(_ name: String, _ names: inout FileNames) throws(CommandError) -> String {
        // Nothing is to be remembered for one.
        if plan.isSingle { return name }
        do throws(FetchError) {
            let unused = try names.unused(name)
            if unused != name {
                console.note("\(place)\(FailureText.url(request.url)): written to \(unused.terminalSafe)")
            }
            return unused
        } catch {
            throw CommandError(FailureText.of(error), status: ExitStatus.Curl.writeError)
        }
    }

    // MARK: The end

    private mutating func settle(_ result: Result<Response, FetchError>?) -> Int32 {
        if outputIsClosed {
            writer?.abandon()
            return ExitStatus.success
        }
        if let refusal { return fail(refusal.message, refusal.code) }
        switch result {
        case .success(let response):
            return settle(status: response.status)
        case .failure(let error):
            outputIsBroken = plan.sharesOutput && error.isOfTheWholeOutput
            if error.code == .cancelled { return fail(nil, ExitStatus.curlCode(for: error)) }
            return fail(FailureText.of(error), ExitStatus.curlCode(for: error))
        case nil where isEnough:
            return settle(status: seen.head?.status ?? 0)
        case nil:
            return fail("the fetch ended without an answer", 70)
        }
    }

    /// All that was wanted of a response has come.
    private mutating func settle(status: Int) -> Int32 {
        let isFailure = plan.failsOnErrorStatus && status >= 400
        let failure = "the response's status is \(status)"
        // It came before its head's event was seen.
        if isFailure, plan.dropsErrorBodies { return fail(failure, ExitStatus.Curl.httpError) }
        do throws(SystemError) {
            try writer?.finish()
        } catch {
            outputIsBroken = plan.sharesOutput && error.isOfTheWholeOutput
            let name = writer?.name ?? path?.terminalSafe ?? "the file"
            return fail("\(name): \(SystemError.reason(error.errno))", ExitStatus.Curl.writeError)
        }
        writer = nil
        return isFailure ? fail(failure, ExitStatus.Curl.httpError) : ExitStatus.success
    }

    private mutating func fail(_ message: String?, _ code: Int32) -> Int32 {
        writer?.abandon()
        if let message {
            let number = plan.isSingle ? "(\(code)) " : ""
            console.failure("\(number)\(place)\(FailureText.url(request.url)): \(message)")
        }
        return code
    }
}
