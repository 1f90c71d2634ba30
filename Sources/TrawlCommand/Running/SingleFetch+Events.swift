import Glibc
import Synchronization
import Trawl
import TrawlHTTP
import TrawlPlatform

/// What happens on the way of a fetch: what is shown, written, and refused.
extension SingleFetch {
    /// Deals with an event; the last one brings the result.
    ///
    /// - Parameter names: The file names given so far.
    mutating func handle(
        _ event: FetchEvent, of fetch: Fetch, _ result: inout Result<Response, FetchError>?, names: inout FileNames
    ) {
        seen.note(event)
        switch event {
        // Of the network the console is told, once for all.
        case .started, .resumedAtOffset, .waitingForConnectivity:
            break
        case .attempt(let number):
            begin(number, of: fetch)
        case .forwarded(let added):
            if let sent {
                console.write(HeadText.lines(sent.with(added.lines), version: versionAsked, prefix: "> "))
            }
        case .interim(let head):
            show(head, of: fetch)
        case .authenticating(let report, let head):
            show(head, of: fetch)
            if plan.report.verbose { console.write(HeadText.lines(report)) }
        case .retrying(let attempt):
            if plan.report.verbose { console.write(HeadText.lines(attempt)) }
        case .redirected(let hop):
            show(hop.head, of: fetch)
        case .head(let head):
            take(head, of: fetch, &names)
        case .data(let bytes):
            take(bytes, of: fetch)
        case .progress(let state):
            if received == 0 || isDecoded { show(state, of: fetch) }
        case .ended(let ended):
            result = ended
            take(ended, of: fetch)
        }
    }

    /// An attempt begins: shows what it sends.
    private mutating func begin(_ attempt: Int, of fetch: Fetch) {
        sent = plan.report.verbose ? fetch.sentRequest(attempt: attempt) : nil
        // What is stored may answer without a request, as is said when it has.
        if let sent, !sent.passesCache { console.write(HeadText.lines(sent, version: versionAsked, prefix: "> ")) }
    }

    /// The head of the response that is the answer: its body is refused, gets its place, or is not waited for.
    private mutating func take(_ head: Response.ResponseHead, of fetch: Fetch, _ names: inout FileNames) {
        if plan.dropsErrorBodies, head.status >= 400 {
            show(head, of: fetch)
            refuse(fetch, "the response's status is \(head.status)", ExitStatus.Curl.httpError)
            return
        }
        if plan.namesFromHeads, writer == nil, path == nil { openNamedByHead(head, of: fetch, &names) }
        show(head, of: fetch)
        if plan.wantsHeadsAlone, refusal == nil, !outputIsClosed {
            isEnough = true
            // With `-X`; otherwise it ends here anyway.
            if plan.template.effectiveMethod != .head { fetch.cancelMeasured() }
            return
        }
        isDecoded = head.fields["Content-Encoding"] != nil
        setProgress(expected: head.fields["Content-Length"].flatMap { UInt64($0) })
    }

    /// Bytes of the body.
    private mutating func take(_ bytes: [UInt8], of fetch: Fetch) {
        received += UInt64(bytes.count)
        if !isDecoded { setProgress(expected: nil) }
        guard refusal == nil, !outputIsClosed, !isEnough else { return }
        if isBinaryForTerminal(bytes) {
            refuse(
                fetch, "binary bytes would go to the terminal; use '-o -' for that, or '-o FILE'",
                ExitStatus.Curl.writeError)
            return
        }
        if let writer { write(bytes, to: writer, of: fetch) }
    }

    /// How far a fetch is whose body does not come here.
    private func show(_ state: FetchProgress, of fetch: Fetch) {
        let whole = UInt64(max(0, fetch.currentProgress.upload.total))
        progress.state.withLock {
            $0 = .single(
                .init(
                    name: FileName.ofURL(request.url), received: state.received, expected: state.expected,
                    sent: state.sent, sending: whole))
        }
    }

    /// The end: shows what no event before it had.
    private mutating func take(_ ended: Result<Response, FetchError>, of fetch: Fetch) {
        switch ended {
        case .failure:
            // No event has it: nothing follows from it but the failure.
            if !seen.hasAnswer, let refused = fetch.refusedHead {
                seen.noteRefused(refused)
                show(refused, of: fetch)
            }
        case .success(let response):
            showTrailers(of: response, fetch)
            if plan.report.verbose, let line = HeadText.line(response.source) { console.write(line) }
        }
    }

    private mutating func show(_ head: Response.ResponseHead, of fetch: Fetch) {
        if plan.report.verbose { console.write(HeadText.lines(head, prefix: "< ")) }
        if heads == nil, !plan.writesHeads { return }
        writeHead(HeadText.bytes(head), HeadText.lines(head, prefix: ""), of: fetch)
    }

    /// Writes the fields behind a body beneath those before it, as curl does.
    private mutating func showTrailers(of response: Response, _ fetch: Fetch) {
        guard !response.trailers.isEmpty, !outputIsClosed, !isEnough else { return }
        writeHead(HeadText.bytes(response.trailers), HeadText.lines(response.trailers, prefix: ""), of: fetch)
    }

    /// Writes where heads go.
    ///
    /// - Parameter text: The same for a terminal: remote bytes are data in a file, and nothing a terminal is to see.
    private mutating func writeHead(_ bytes: [UInt8], _ text: String, of fetch: Fetch) {
        if let heads { write(heads.isTerminal ? Array(text.utf8) : bytes, to: heads, of: fetch) }
        guard plan.writesHeads, let writer, refusal == nil else { return }
        write(writer.isTerminal ? Array(text.utf8) : bytes, to: writer, of: fetch)
    }

    /// Opens the file of a response that names it itself, or else is named after its URL.
    private mutating func openNamedByHead(
        _ head: Response.ResponseHead, of fetch: Fetch, _ names: inout FileNames
    ) {
        let suggested = SuggestedFileName(disposition: head.fields.lines)
        let name: String
        do throws(CommandError) {
            name = try unusedName(suggested?.text ?? FileName.ofURL(request.url), &names)
        } catch {
            return refuse(fetch, error.message, error.status)
        }
        let path = LocalPath.joined(plan.directory, name)
        (fileName, self.path) = (name, path)
        do throws(SystemError) {
            // For a name that the server chose, nothing of the user's goes.
            writer = try BodyWriter.file(path, replaces: suggested == nil)
        } catch {
            failed(error, path.terminalSafe, fetch)
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

    private mutating func write(_ bytes: [UInt8], to output: BodyWriter, of fetch: Fetch) {
        do throws(SystemError) {
            try bytes.span.withUnsafeBytes { bytes throws(SystemError) in try output.write(bytes) }
        } catch {
            guard error.errno == EPIPE, output.isStandardOutput else { return failed(error, output.name, fetch) }
            // The body goes elsewhere, and somebody may want that.
            guard writer?.isStandardOutput == true else { return heads = nil }
            // Whoever read has seen enough.
            outputIsClosed = true
            fetch.cancel()
        }
    }

    /// - Parameter name: That of what is written to, safe on a terminal.
    private mutating func failed(_ error: SystemError, _ name: String, _ fetch: Fetch) {
        outputIsBroken = plan.sharesOutput && error.isOfTheWholeOutput
        refuse(fetch, "\(name): \(SystemError.reason(error.errno))", ExitStatus.Curl.writeError)
    }

    private mutating func refuse(_ fetch: Fetch, _ message: String, _ code: Int32) {
        if refusal == nil { refusal = (message, code) }
        // `-w` tells what the exchange took.
        fetch.cancelMeasured()
    }

    private var versionAsked: String {
        switch plan.template.options.transport.version {
        case .http1_0: "HTTP/1.0"
        case .http1_1: "HTTP/1.1"
        case .http2, .http2PriorKnowledge: "HTTP/2"
        }
    }
}
