import Glibc
import Synchronization
import Trawl
import TrawlHTTP
import TrawlPlatform

/// What happens on the way of a fetch: what is shown, written, and refused.
extension SingleFetch {
    /// Deals with an event; the last one brings the result.
    mutating func handle(_ event: FetchEvent, of fetch: Fetch, _ result: inout Result<Response, FetchError>?) {
        switch event {
        // Of the network the console is told, once for all.
        case .started, .resumedAtOffset, .waitingForConnectivity:
            break
        case .attempt(let number):
            sent = plan.report.verbose ? fetch.sentRequest(attempt: number) : nil
            // What is stored may answer without a request, as is said when it has.
            if let sent, !sent.passesCache { console.write(HeadText.lines(sent, version: versionAsked, prefix: "> ")) }
        case .forwarded(let added):
            if let sent {
                console.write(HeadText.lines(sent.with(added.lines), version: versionAsked, prefix: "> "))
            }
        case .interim(let head):
            show(head, of: fetch)
        case .authenticating(let report, let head):
            self.head = head
            show(head, of: fetch)
            if plan.report.verbose { console.write(HeadText.lines(report)) }
        case .retrying(let attempt):
            head = nil
            if plan.report.verbose { console.write(HeadText.lines(attempt)) }
        case .redirected(let hop):
            head = hop.head
            redirects += 1
            show(hop.head, of: fetch)
        case .head(let head):
            self.head = head
            if !plan.savesErrorBodies, head.status >= 400 {
                if plan.report.verbose { console.write(HeadText.lines(head, prefix: "< ")) }
                refuse(fetch, "the response's status is \(head.status)", ExitStatus.Curl.httpError)
                return
            }
            if plan.namesFromHeads, writer == nil, path == nil {
                attempt(fetch) { run throws(SystemError) in try run.openNamedByHead(head) }
            }
            show(head, of: fetch)
            if plan.wantsHeadsAlone, refusal == nil, !outputIsClosed {
                isEnough = true
                // With `-X`; otherwise it ends here anyway.
                if plan.template.effectiveMethod != .head { fetch.cancel() }
                return
            }
            setProgress(expected: head.fields["Content-Length"].flatMap { UInt64($0) })
        case .data(let bytes):
            received += UInt64(bytes.count)
            setProgress(expected: nil)
            guard refusal == nil, !outputIsClosed, !isEnough else { return }
            if isBinaryForTerminal(bytes) {
                refuse(
                    fetch, "binary bytes would go to the terminal; use '-o -' for that, or '-o FILE'",
                    ExitStatus.Curl.writeError)
                return
            }
            write(bytes, of: fetch)
        case .progress(let state):
            if received == 0 {
                let whole = UInt64(max(0, fetch.currentProgress.upload.total))
                progress.state.withLock {
                    $0 = .single(
                        .init(
                            name: FileName.ofURL(request.url), received: state.received, expected: state.expected,
                            sent: state.sent, sending: whole))
                }
            }
        case .ended(let ended):
            result = ended
            if plan.report.verbose, case .success(let response) = ended, let line = HeadText.line(response.source) {
                console.write(line)
            }
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

    private var versionAsked: String {
        switch plan.template.options.transport.version {
        case .http1_0: "HTTP/1.0"
        case .http1_1: "HTTP/1.1"
        case .http2, .http2PriorKnowledge: "HTTP/2"
        }
    }
}
