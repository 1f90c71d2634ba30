import Glibc
import Trawl
import TrawlPlatform

/// The requests of a run that are still to be done: those of the arguments, then those of a list, which is read as it
/// is needed. What an earlier run has brought to an end is left out.
///
/// Bound to one thread.
final class RequestSource {
    enum Next {
        /// - Parameter isAgain: Whether an earlier run's record says that it failed.
        case request(ListedRequest, line: Int, isAgain: Bool)
        case bad(BadLine, line: Int, isAgain: Bool)
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

    /// Whether it goes on with what an earlier run began.
    let isResumed: Bool
    /// How many requests there are; nil when a list decides.
    let total: Int?
    private var arguments: ArraySlice<ListedRequest>
    private let list: ListReader?
    private let form: RequestLine.Form
    /// Where the list's files go.
    private let directory: String?
    private let retriesFailed: Bool
    /// One thread's, and never lent while it is used otherwise.
    @exclusivity(unchecked)
    private var finished: FinishedRequests
    /// The line of the latest request, as it came; valid until the next is asked for.
    private(set) var lineBytes = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Whether the list has had a request: then only lines with a NUL still speak against its being one.
    private var hasRequest = false
    /// Bad lines that speak against a list: before its first request all but objects of JSON where those are known,
    /// behind it those with a NUL since the latest of text. Those that an earlier run has reported do not count.
    private var refused = 0
    /// So many of them, and the input is no list.
    private static let mostRefused = 100

    /// Requests of arguments and then those of a list.
    ///
    /// - Parameter scratch: Where the names of files are remembered.
    init(
        _ arguments: [ListedRequest], _ list: ListReader?, _ form: RequestLine.Form, in scratch: ScratchPlaces
    ) {
        self.arguments = arguments[...]
        total = list == nil ? arguments.count : nil
        self.list = list
        self.form = form
        directory = nil
        isResumed = false
        retriesFailed = false
        finished = FinishedRequests(in: scratch)
    }

    /// Requests of a list; reads what the results file holds.
    ///
    /// - Parameters:
    ///   - directory: Where files go.
    ///   - scratch: Where that is looked up, and the names of files are remembered.
    init(
        _ list: ListReader, into directory: String, _ results: ResultsFile?, in scratch: ScratchPlaces,
        retriesFailed: Bool, console: Console
    ) throws(CommandError) {
        arguments = []
        total = nil
        self.list = list
        form = .list
        self.directory = directory
        self.retriesFailed = retriesFailed
        var finished = FinishedRequests(in: scratch)
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
                try finished.insert(record.key, record.isSuccess ? .fetched : .failed, isAgain: record.isAgain)
            } catch {
                failure = error
            }
        }
        if let results, let failure {
            throw CommandError(
                "\(results.name): its records cannot be looked up: no scratch file: "
                    + SystemError.reason(failure.errno),
                status: ExitStatus.outputError)
        }
        if let results, damaged > 0 {
            console.failure(
                damaged == 1
                    ? "\(results.name): a damaged line counts for nothing; its request is done again"
                    : "\(results.name): \(damaged) damaged lines count for nothing; their requests are done again")
        }
        self.finished = finished
    }

    /// How much of the list has been handed out, from 0 to 1; nil without one, or where nobody knows how long it is.
    var share: Double? { list?.share }

    /// Bytes of the list's lines that were read so far, whatever became of them; unpacked ones where it is packed.
    var bytesRead: Int { list?.bytesRead ?? 0 }

    /// To be polled when the next line has not come yet.
    var descriptor: Int32? { list?.descriptor }

    /// How a line is called in messages, a space at the end: `urls.txt:12: `. An argument needs no name.
    func place(_ line: Int) -> String { line == 0 ? "" : list?.place(line) ?? "" }

    /// The next request.
    ///
    /// - Parameter interrupt: Waiting for a slow list ends when this is readable; -1 never waits.
    func next(interrupt: Int32 = -1) -> Next {
        if let request = arguments.popFirst() { return .request(request, line: 0, isAgain: false) }
        guard let list else { return .end }
        let line: RequestLine
        let number: Int
        var isText = false
        var hasNUL = false
        do throws(CommandError) {
            switch try list.next(interrupt: interrupt) {
            case .line(let count, let bytes):
                number = count
                lineBytes = bytes
                line = RequestLine(bytes, form, beneath: directory)
                isText = true
            case .bad(let count, let reason, let start, let holdsNUL):
                number = count
                line = .bad(RequestLine.broken(start, reason))
                hasNUL = holdsNUL
            case .end: return .end
            case .interrupted: return .wait
            }
        } catch {
            return .unreadable(error.message)
        }
        switch line {
        case .nothing: return .nothing
        case .request(let request):
            hasRequest = true
            refused = 0
            let ending = finished.take(request.key)
            if let ending, isOver(ending) { return .skipped(ending) }
            return .request(request, line: number, isAgain: ending != nil)
        case .bad(let bad):
            let ending = finished.take(ResultRecord.key(of: bad, line: number))
            if hasRequest, isText { refused = 0 }
            // No encoding of text that ends lines as a list does has a NUL; in a program some lines may look like text.
            // If those counted that an earlier run has reported, no run would come further than that one.
            let isOfList = hasRequest || isText && form == .list && RequestLine.beginsObject(lineBytes)
            if ending == nil, !isOfList || hasNUL {
                if refused == Self.mostRefused {
                    return .unreadable(
                        "\(list.name): not a list of URLs: \(bad.reason.terminalSafe), after \(refused) bad lines")
                }
                refused += 1
            }
            if let ending, isOver(ending) { return .skipped(ending) }
            return .bad(bad, line: number, isAgain: ending != nil)
        }
    }

    /// Lines that are passed over at most in search of the end, and bytes of them before the last.
    private static let mostPassed = (lines: 4096, bytes: 1 << 20)

    /// Whether nothing is left, as far as that is known without waiting. For who wants no more requests: one that is
    /// left may be lost to `next`.
    func isExhausted() -> Bool {
        let start = bytesRead
        for _ in 0..<Self.mostPassed.lines where bytesRead - start < Self.mostPassed.bytes {
            switch next() {
            case .nothing: continue
            case .end: return true
            case .request, .bad, .skipped, .wait, .unreadable: return false
            }
        }
        return false
    }

    private func isOver(_ ending: FinishedRequests.Ending) -> Bool {
        ending == .fetched || !retriesFailed
    }

    /// A file of this name is this run's now.
    func record(file name: String) throws(SystemError) {
        try finished.insert(fileName: name)
    }

    /// Whether a record named this file: one of an earlier run, or of this one if it was told.
    func wasRecorded(file name: String) -> Bool {
        finished.contains(fileName: name)
    }
}
