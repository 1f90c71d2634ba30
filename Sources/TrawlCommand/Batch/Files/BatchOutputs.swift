import Glibc
import TrawlHTTP
import TrawlJSON
import TrawlPlatform

/// Where a batch writes, beside the files of bodies: the records of its requests, and what `-w` prints.
struct BatchOutputs {
    /// Why no more can be written.
    enum Failure {
        /// Who reads the results has closed them.
        case resultsClosed
        /// Who reads what `-w` prints has closed that.
        case printsClosed
        /// No space, a broken disk: in words.
        case broken(String)
    }

    /// nil without `--results`.
    let results: ResultsFile?
    /// nil without `-w`.
    let printer: OutputThread<[UInt8]>?
    /// Records of this turn.
    var records = JSONWriter()
    /// What `-w` printed in this turn.
    var printed: [UInt8] = []

    init(_ results: ResultsFile?, _ printer: OutputThread<[UInt8]>?) {
        self.results = results
        self.printer = printer
    }

    /// Bytes that wait for the end of this turn.
    var waiting: Int { records.count + printed.count }

    /// Whether more requests may be read; when not, a turn comes when they may.
    func hasRoom() -> Bool { (results?.hasRoom() ?? true) && (printer?.hasRoom() ?? true) }

    /// Whether all that was ever handed over is written.
    var isOver: Bool { results?.isOver != false && printer?.isOver != false }

    /// What became of outputs that have threads of their own, or of the results' name.
    func failure(at now: MonotonicInstant) -> Failure? {
        if let results, !results.isInPlace(at: now) {
            return .broken("\(results.name): removed or replaced while records were written to it")
        }
        if let results, let error = results.failure {
            return Self.failure(error, results.name, ofClosed: .resultsClosed)
        }
        if let printer, let error = printer.failure {
            return Self.failure(error, "standard output", ofClosed: .printsClosed)
        }
        return nil
    }

    /// At the end of a turn: records reach the file before anything else is started or waited for.
    mutating func write() -> Failure? {
        if let printer, !printed.isEmpty {
            printer.add(printed)
            printed.removeAll(keepingCapacity: true)
        }
        guard let results, !records.isEmpty else { return nil }
        defer { records.removeAll() }
        do throws(SystemError) {
            try results.append(records)
            return nil
        } catch {
            return Self.failure(error, results.name, ofClosed: .resultsClosed)
        }
    }

    /// When nothing more comes: what the end alone tells.
    func close() -> Failure? {
        guard let results else { return nil }
        do throws(SystemError) {
            try results.flush()
            return nil
        } catch {
            return Self.failure(error, results.name, ofClosed: .resultsClosed)
        }
    }

    private static func failure(_ error: SystemError, _ name: String, ofClosed closed: Failure) -> Failure {
        error.errno == EPIPE ? closed : .broken("\(name): \(SystemError.reason(error.errno))")
    }
}
