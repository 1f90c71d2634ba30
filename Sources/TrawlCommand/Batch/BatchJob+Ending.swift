import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// What becomes of a request whose fetch has ended.
extension BatchJob {
    /// Why a request counts as failed.
    private struct Failure {
        let message: String
        let curlCode: Int32
    }

    /// Seconds that a request waits for descriptors, memory or a thread before the run is given up.
    private static let mostShortages = 10

    /// Deals with the answers of a turn.
    mutating func finish(_ answers: [FetchAnswer]) {
        if !answers.isEmpty { warnings.tell(coordinator, on: console) }
        for answer in answers { finish(answer.tag, answer.result, attempts: answer.attempts) }
    }

    private mutating func finish(_ tag: UInt64, _ result: Result<Response, FetchError>, attempts: Int) {
        let fetch = table[tag]
        switch result {
        case .success: break
        case .failure(let error):
            // Nothing was wrong but that too many files were open, or no memory or thread was left, which may pass.
            if error.isShortage, fetch.shortages < Self.mostShortages {
                fetch.shortages += 1
                shortages.insert(tag, at: now.advanced(by: .seconds(1)))
                return
            }
            if isUnfinished(error) {
                leavesRequests = true
                remove(tag)
                return
            }
        }
        fetch.attempts = attempts
        remove(tag)
        end(fetch, result)
    }

    /// Whether the response is one after which the request was tried again, and no try was left.
    private func isGivenUp(_ response: Response) -> Bool {
        guard plan.failsAfterRetries else { return false }
        // What nobody said will not be said otherwise.
        return response.source != .generated && plan.template.options.retry.mayPass(status: response.status)
    }

    /// The file of a response, this request's own.
    ///
    /// In a run that goes on, a file that could not have the name asked for is named here, where the names of records are
    /// known. A file that is there with the same bytes, and that no record names, is taken over in its place; where that
    /// is of another request whose end has not come yet, that one gets a copy.
    private mutating func ownFile(of response: Response, _ fetch: FetchInFlight) throws(SystemError) -> String? {
        guard names.adoptsFiles, let root = plan.root?.root else { return response.file }
        root.refresh(at: now.nanoseconds)
        let own: String
        if let body = response.unnamed {
            own = try name(FileCopy.part(of: body, in: root), in: root)
        } else if let file = response.file {
            if source.wasRecorded(file: file) {
                // A name does not say which digits at its end are a number: what was asked for has none.
                own = try name(FileCopy.part(copying: file, for: fetch.path ?? file, in: root), in: root)
            } else {
                own = file
            }
        } else {
            return nil
        }
        do throws(SystemError) {
            try source.record(file: own)
        } catch {
            breakOff("file names cannot be remembered: no scratch file: \(SystemError.reason(error.errno))")
        }
        return own
    }

    /// Gives a file the first name of its row that is no record's, and is free or leads to the same bytes: its own, or
    /// that with a number.
    private mutating func name(_ part: PartFile, in root: OutputRoot) throws(SystemError) -> String {
        let first = names.firstUnrecorded(of: part.path)
        let source = source
        try part.publish(numberedFrom: first, adoptsIdentical: true, sync: false) { path in
            source.wasRecorded(file: path)
        } notAdopting: { path in
            // It may be that of a record which spells it in another way, or of a request whose end has not come yet.
            root.isBlindToCase(at: path)
        }
        return part.path
    }

    /// A request is over, and none of those in flight any more: it is counted, told and recorded.
    mutating func end(_ fetch: FetchInFlight, _ result: Result<Response, FetchError>) {
        var failure: Failure?
        var file: String?
        // What the record tells in place of the response.
        var fault: FetchError?
        switch result {
        case .success(let response):
            let isGivenUp = isGivenUp(response)
            do throws(SystemError) {
                file = isGivenUp ? nil : try ownFile(of: response, fetch)
            } catch {
                let path = response.file ?? response.unnamed?.path ?? ""
                let message = "\(path.terminalSafe): \(SystemError.reason(error.errno))"
                // None of that is about the request, which the next run does again.
                if let obstacle = plan.root?.obstacle {
                    leavesRequests = true
                    return breakOff("\(plan.directory.terminalSafe): \(SystemError.reason(obstacle))")
                }
                if error.isOfTheWholeOutput || error.errno == EMFILE || error.errno == ENFILE {
                    leavesRequests = true
                    return breakOff(message)
                }
                failure = Failure(message: message, curlCode: ExitStatus.Curl.writeError)
                // As where a worker could not give the file its name.
                fault = FetchError(.file, message, cause: .system(error.errno))
            }
            if let file, let path = fetch.path, file != path { names.collided(path, became: file) }
            tally.bytes = tally.bytes.addingClamping(response.receivedLength)
            tally.cache.count(response.source)
            if isGivenUp || plan.failsOnErrorStatus && failure == nil && response.status >= 400 {
                failure = Failure(
                    message: "the response's status is \(response.status)", curlCode: ExitStatus.Curl.httpError)
            }
        case .failure(let error):
            failure = Failure(message: FailureText.of(error), curlCode: ExitStatus.curlCode(for: error))
        }
        if let failure {
            tally.failed += 1
            messages.failed(fetch, failure.message)
        } else {
            tally.succeeded += 1
        }
        if plan.writeOut != nil { writeOut(fetch, result, failure, file: file) }
        guard outputs.results != nil else { return }
        ResultRecord(
            fetch: fetch, file: file, isSuccess: failure == nil, time: time,
            elapsed: (now.nanoseconds - fetch.started.nanoseconds) / 1000
        ).write(fault.map { .failure($0) } ?? result, to: &outputs.records)
    }

    /// Prints what `-w` asks for, at the end of this turn.
    private mutating func writeOut(
        _ fetch: FetchInFlight, _ result: Result<Response, FetchError>, _ failure: Failure?, file: String?
    ) {
        let request = templates.request(of: fetch.request)
        var values = WriteOutValues(
            url: fetch.request.shownURL, method: request.effectiveMethod.name,
            exitCode: failure?.curlCode ?? 0, total: fetch.notes?.exchangeStart?.duration(to: now) ?? .zero)
        values.referer = request.fields["Referer"] ?? ""
        switch result {
        case .success(let response):
            values.response = response
            values.message = failure?.message ?? ""
        case .failure(let error): values.error = error
        }
        if let notes = fetch.notes { values.seen = notes.seen }
        values.fileName = (plan.files == .new ? file ?? fetch.path : fetch.path).map {
            LocalPath.placed($0, in: plan.shownDirectory)
        }
        if let bytes = plan.writeOut?.output(values, on: console) { outputs.printed += bytes }
    }
}
