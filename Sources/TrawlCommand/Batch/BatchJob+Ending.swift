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

    /// Seconds that a request waits for descriptors or a thread before the run is given up.
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
            // Nothing was wrong but that too many files were open or no thread was left, which may pass.
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
    /// A run that goes on takes over files of the same bytes that no record names. Where several requests want one name
    /// and get the same bytes, one may have taken over another's, which was recorded a moment ago: then it gets a copy.
    /// A file that was made just now under the name of an earlier run's record, since the file of that was taken away,
    /// gets another name.
    private mutating func ownFile(of response: Response) throws(SystemError) -> String? {
        guard let file = response.file, names.adoptsFiles, let root = plan.root?.root else { return response.file }
        root.refresh(at: now.nanoseconds)
        var own = file
        var isAnothers = response.hasAdoptedFile
        while source.wasRecorded(file: own) {
            let (name, number) = names.unrecorded(after: own)
            let part: PartFile
            // Of two ends of one file, that of the request which took it over may come first.
            if isAnothers || source.isOfThisRun(file: own) {
                part = try FileCopy.copy(own, in: root, to: name, from: number)
            } else {
                part = try FileCopy.link(own, in: root, to: name, from: number)
                spares.add(own, in: root)
            }
            (own, isAnothers) = (part.path, part.isAdopted)
        }
        do throws(SystemError) {
            try source.record(file: own)
        } catch {
            breakOff("file names cannot be remembered: no scratch file: \(SystemError.reason(error.errno))")
        }
        return own
    }

    /// A request is over, and none of those in flight any more: it is counted, told and recorded.
    mutating func end(_ fetch: FetchInFlight, _ result: Result<Response, FetchError>) {
        var failure: Failure?
        var file: String?
        switch result {
        case .success(let response):
            let isGivenUp = isGivenUp(response)
            do throws(SystemError) {
                file = isGivenUp ? nil : try ownFile(of: response)
            } catch {
                let message = "\((response.file ?? "").terminalSafe): \(SystemError.reason(error.errno))"
                if error.isOfTheWholeOutput {
                    leavesRequests = true
                    return breakOff(message)
                }
                failure = Failure(message: message, curlCode: ExitStatus.Curl.writeError)
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
        ).write(result, to: &outputs.records)
    }

    /// Prints what `-w` asks for, at the end of this turn.
    private mutating func writeOut(
        _ fetch: FetchInFlight, _ result: Result<Response, FetchError>, _ failure: Failure?, file: String?
    ) {
        var values = WriteOutValues(
            url: UserInformation.removed(from: fetch.request.url), method: templates.method(of: fetch.request),
            exitCode: failure?.curlCode ?? 0, total: fetch.notes?.exchangeStart?.duration(to: now) ?? .zero)
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
