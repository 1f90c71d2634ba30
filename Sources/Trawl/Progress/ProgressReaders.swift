import TrawlFrontier
import TrawlHTTP

/// Those who follow progress. Each gets the latest value, as often as it can bear, and always the last one.
struct ProgressReaders {
    typealias Stream = AsyncStream<TransferProgress>

    /// The most often that somebody is told: four times a second.
    static let shortestInterval = Duration.milliseconds(250)

    private struct Reader {
        let continuation: Stream.Continuation
        var pacer: ReportPacer
    }

    private var readers: [UInt64: Reader] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { readers.isEmpty }

    /// Adds one.
    ///
    /// - Returns: Its number, to remove it by.
    mutating func add(_ continuation: Stream.Continuation, every interval: Duration) -> UInt64 {
        lastNumber += 1
        let pacer = ReportPacer(interval: max(interval, Self.shortestInterval))
        readers[lastNumber] = Reader(continuation: continuation, pacer: pacer)
        return lastNumber
    }

    mutating func remove(_ number: UInt64) { readers[number] = nil }

    /// Who is to be told now. To be done outside of any lock.
    mutating func due(at now: MonotonicInstant, isFinal: Bool) -> [Stream.Continuation] {
        var due: [Stream.Continuation] = []
        for number in readers.keys where readers[number]?.pacer.isDue(at: now, isFinal: isFinal) == true {
            if let reader = readers[number] { due.append(reader.continuation) }
        }
        return due
    }

    /// All of them, who are readers no longer.
    mutating func removeAll() -> [Stream.Continuation] {
        defer { readers = [:] }
        return readers.values.map(\.continuation)
    }
}
