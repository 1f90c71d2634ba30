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

    private var writer: BodyWriter?
    /// The file's path, once it is known.
    private var path: String?
    /// The last that came of a response: the answer's, a redirect's or a challenge's.
    private var head: Response.ResponseHead?
    /// Those followed.
    private var redirects = 0
    private var received: UInt64 = 0
    /// Why the fetch was ended by this side, with its exit code.
    private var refusal: (message: String, code: Int32)?
    /// Takes the heads for `-D`.
    private let heads: BodyWriter?
    private(set) var outputIsClosed = false
    private(set) var outputIsBroken = false

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
        var request = plan.template
        request.url = self.request.url
        let destination: Destination
        do throws(CommandError) {
            destination = try self.destination(&names)
        } catch {
            console.failure(error.message)
            return error.status
        }
        progress.state.withLock {
            $0 = .single(.init(name: FileName.ofURL(request.url), received: 0, expected: nil))
        }
        let start = MonotonicClock.now()
        var result: Result<Response, FetchError>?
        let fetch = coordinator.start(request, into: destination)
        announce(fetch)
        while let event = fetch.nextEventBlocking() { handle(event, of: fetch, &result) }
        if let refused = fetch.refusedHead { head = refused }
        let code = settle(result)
        var values = WriteOutValues(
            url: URLText.withoutUserInformation(request.url), method: request.effectiveMethod.name, exitCode: code,
            total: start.duration(to: MonotonicClock.now()))
        if case .success(let response) = result { values.response = response }
        if case .failure(let error) = result { values.error = error }
        (values.head, values.redirects) = (head, redirects)
        values.message = refusal?.message ?? ""
        values.fileName = path
        if !outputIsClosed {
            do throws(SystemError) {
                try plan.writeOut?.write(values, on: console)
            } catch {
                if error.errno == EPIPE { outputIsClosed = true }
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
            path = try plan.path(unusedName(request.out ?? FileName.ofURL(request.url), &names))
        case .named:
            guard let name = request.out else {
                throw CommandError("no file name for \(FailureText.url(request.url))")
            }
            if LocalPath.isStandardOutput(name) {
                writer = .standardOutput()
                return .stream
            }
            path = try plan.path(name)
        }
        guard let path else { throw CommandError("no file name for \(FailureText.url(request.url))") }
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
        options.savesErrorBodies = !plan.failsOnErrorStatus
        return .file(path, options: options)
    }

    private func unusedName(_ name: String, _ names: inout FileNames) throws(CommandError) -> String {
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

    /// The file of a response that names it itself.
    private mutating func openNamedByHead(_ head: Response.ResponseHead) throws(SystemError) {
        let name = SuggestedFileName(disposition: head.fields.lines)?.text ?? FileName.ofURL(request.url)
        let path = LocalPath.joined(plan.directory, name)
        self.path = path
        // The server chose the name: nothing of the user's goes for it.
        writer = try BodyWriter.file(path, replaces: false)
    }

    // MARK: Events

    private mutating func handle(_ event: FetchEvent, of fetch: Fetch, _ result: inout Result<Response, FetchError>?) {
        switch event {
        case .started, .resumedAtOffset:
            break
        case .attempt(let number):
            if plan.report.verbose, let sent = fetch.sentRequest(attempt: number) {
                console.write(HeadText.lines(sent, version: versionAsked, prefix: "> "))
            }
        case .interim(let head):
            show(head, of: fetch)
        case .authenticating(let report, let head):
            self.head = head
            show(head, of: fetch)
            if plan.report.verbose { console.write(HeadText.lines(report)) }
        case .waitingForConnectivity:
            console.note("\(place)there is no network; waiting for it")
        case .retrying(let attempt):
            head = nil
            if plan.report.verbose { console.write(HeadText.lines(attempt)) }
        case .redirected(let hop):
            head = hop.head
            redirects += 1
            show(hop.head, of: fetch)
        case .head(let head):
            self.head = head
            if plan.failsOnErrorStatus, head.status >= 400 {
                if plan.report.verbose { console.write(HeadText.lines(head, prefix: "< ")) }
                refuse(fetch, "the response's status is \(head.status)", ExitStatus.Curl.httpError)
                return
            }
            if plan.namesFromHeads, writer == nil, path == nil {
                attempt(fetch) { run throws(SystemError) in try run.openNamedByHead(head) }
            }
            show(head, of: fetch)
            setProgress(expected: head.fields["Content-Length"].flatMap { UInt64($0) })
        case .data(let bytes):
            received += UInt64(bytes.count)
            setProgress(expected: nil)
            guard refusal == nil, !outputIsClosed else { return }
            if isBinaryForTerminal(bytes) {
                refuse(
                    fetch, "binary bytes would go to the terminal; use '-o -' for that, or '-o FILE'",
                    ExitStatus.Curl.writeError)
                return
            }
            write(bytes, of: fetch)
        case .progress(let state):
            if received == 0 {
                progress.state.withLock {
                    $0 = .single(
                        .init(name: FileName.ofURL(request.url), received: state.received, expected: state.expected))
                }
            }
        case .ended(let ended):
            result = ended
        }
    }

    private mutating func show(_ head: Response.ResponseHead, of fetch: Fetch) {
        if plan.report.verbose { console.write(HeadText.lines(head, prefix: "< ")) }
        if let heads {
            // Remote bytes are data in a file, and nothing a terminal is to see.
            let bytes =
                heads.isTerminal ? Array(HeadText.lines(head, prefix: "").utf8) : HeadText.bytes(head)
            attempt(fetch) { _ throws(SystemError) in
                try bytes.span.withUnsafeBytes { bytes throws(SystemError) in try heads.write(bytes) }
            }
        }
        guard plan.writesHeads, let writer, refusal == nil else { return }
        if writer.isTerminal {
            write(Array(HeadText.lines(head, prefix: "").utf8), of: fetch)
        } else {
            write(HeadText.bytes(head), of: fetch)
        }
    }

    private func setProgress(expected: UInt64?) {
        guard progress.isShown else { return }
        let received = received
        progress.state.withLock { state in
            guard case .single(var single) = state else { return }
            single.received = received
            if let expected { single.expected = expected }
            state = .single(single)
        }
    }

    /// As curl: a zero byte in the first piece.
    private func isBinaryForTerminal(_ bytes: [UInt8]) -> Bool {
        received == UInt64(bytes.count) && !plan.allowsBinaryOnTerminal && writer?.isTerminal == true
            && bytes.prefix(2000).contains(0)
    }

    private mutating func write(_ bytes: [UInt8], of fetch: Fetch) {
        guard let writer else { return }
        do throws(SystemError) {
            try bytes.span.withUnsafeBytes { bytes throws(SystemError) in try writer.write(bytes) }
        } catch {
            failed(error, fetch)
        }
    }

    private mutating func attempt(_ fetch: Fetch, _ body: (inout SingleFetch) throws(SystemError) -> Void) {
        do throws(SystemError) {
            try body(&self)
        } catch {
            failed(error, fetch)
        }
    }

    private mutating func failed(_ error: SystemError, _ fetch: Fetch) {
        if error.errno == EPIPE, writer?.isStandardOutput == true {
            // Whoever read has seen enough.
            outputIsClosed = true
            fetch.cancel()
            return
        }
        outputIsBroken = error.isOfTheWholeOutput
        let name = writer?.name ?? path?.terminalSafe ?? "the file"
        refuse(fetch, "\(name): \(SystemError.reason(error.errno))", ExitStatus.Curl.writeError)
    }

    private mutating func refuse(_ fetch: Fetch, _ message: String, _ code: Int32) {
        if refusal == nil { refusal = (message, code) }
        fetch.cancel()
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
            do throws(SystemError) {
                try complete(response)
            } catch {
                outputIsBroken = error.isOfTheWholeOutput
                let name = writer?.name ?? path?.terminalSafe ?? "the file"
                return fail("\(name): \(SystemError.reason(error.errno))", ExitStatus.Curl.writeError)
            }
            // A status of 400 or more that came before its head's event was seen.
            if plan.failsOnErrorStatus, response.status >= 400 {
                return fail("the response's status is \(response.status)", ExitStatus.Curl.httpError)
            }
            return ExitStatus.success
        case .failure(let error):
            outputIsBroken = error.isOfTheWholeOutput
            if error.code == .cancelled { return fail(nil, ExitStatus.curlCode(for: error)) }
            return fail(FailureText.of(error), ExitStatus.curlCode(for: error))
        case nil:
            return fail("the fetch ended without an answer", 70)
        }
    }

    /// What is left to do with a body that came.
    private mutating func complete(_ response: Response) throws(SystemError) {
        if let writer { return try writer.finish() }
        if let path { try BodyWriter.saveRedirect(response, path) }
    }

    private mutating func fail(_ message: String?, _ code: Int32) -> Int32 {
        writer?.abandon()
        if let message {
            let number = plan.isSingle ? "(\(code)) " : ""
            console.failure("\(number)\(place)\(FailureText.url(request.url)): \(message)")
        }
        return code
    }

    private var versionAsked: String {
        switch plan.template.options.transport.version {
        case .http1_0: "HTTP/1.0"
        case .http1_1: "HTTP/1.1"
        case .http2, .http2PriorKnowledge: "HTTP/2"
        }
    }
}
