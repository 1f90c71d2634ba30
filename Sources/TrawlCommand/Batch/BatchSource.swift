import Glibc
import TrawlPlatform

/// The requests of a list that are still to be done: those an earlier run has brought to an end are left out.
///
/// Bound to one thread.
final class BatchSource {
    enum Next {
        case request(ListedRequest, line: Int)
        case bad(BadLine, line: Int)
        /// A line that says nothing.
        case nothing
        /// The results file has its record.
        case skipped(FinishedRequests.Ending)
        /// The next line has not come yet.
        case wait
        case end
        /// The list cannot be read on.
        case unreadable(String)
    }

    let list: ListReader
    /// Whether it goes on with what an earlier run began.
    let isResumed: Bool
    private var finished: FinishedRequests

    /// Reads what the results file holds.
    init(
        _ list: ListReader, _ results: ResultsFile?, retriesFailed: Bool, console: Console
    ) throws(CommandError) {
        self.list = list
        var finished = FinishedRequests(directory: results?.directory ?? ".")
        isResumed = results?.isOfEarlierRun ?? false
        var failure: SystemError?
        var damaged = 0
        try results?.readRecords { line, record in
            guard failure == nil else { return }
            guard let record = FinishedRecord(record) else {
                damaged += 1
                return
            }
            do throws(SystemError) {
                if let file = record.file { try finished.insert(fileName: file) }
                if record.isSuccess || !retriesFailed {
                    try finished.insert(record.key, record.isSuccess ? .fetched : .failed)
                }
            } catch {
                failure = error
            }
        }
        if let results, let failure {
            throw CommandError(
                "\(results.name): no room to look its records up: \(SystemError.reason(failure.errno))",
                status: ExitStatus.outputError)
        }
        if let results, damaged > 0 {
            console.failure(
                "\(results.name): \(damaged) damaged lines count for nothing; their requests are done again")
        }
        self.finished = finished
    }

    /// The next request, without waiting for a slow list.
    func next() -> Next {
        let line: RequestLine
        let number: Int
        do throws(CommandError) {
            switch try list.next(interrupt: -1) {
            case .line(let count, let bytes):
                number = count
                line = RequestLine(bytes, .list)
            case .bad(let count, let reason, let start):
                number = count
                line = .bad(BadLine(reason: reason, id: RequestLine.id(inBrokenLine: start)))
            case .end: return .end
            case .interrupted: return .wait
            }
        } catch {
            return .unreadable(error.message)
        }
        switch line {
        case .nothing: return .nothing
        case .request(let request):
            if let ending = finished.take(request.key) { return .skipped(ending) }
            return .request(request, line: number)
        case .bad(let bad):
            if let ending = finished.take(ResultRecord.key(of: bad, line: number)) { return .skipped(ending) }
            return .bad(bad, line: number)
        }
    }

    /// A record of this run names this file.
    func record(file name: String) throws(SystemError) {
        try finished.insert(fileName: name)
    }

    /// Whether a record named this file: one of an earlier run, or of this one if it was told.
    func wasRecorded(file name: String) -> Bool {
        finished.contains(fileName: name)
    }
}
