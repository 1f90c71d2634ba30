import TrawlHTTP

/// How long a script may take for one answer: so much of its process's time on a processor, and longer by the clock
/// where processors are busy. Lookups of names do not count, nor does the time for which this process is stopped.
struct ScriptDeadline {
    /// What its process may have of processors.
    static let longestRun = Duration.seconds(5)
    /// What it may take by the clock.
    static let longestWait = Duration.seconds(15)

    /// When to ask whether it is over.
    private(set) var look: MonotonicInstant
    private var end: MonotonicInstant
    private let processorTime: Duration

    /// - Parameters:
    ///   - now: When the script begins.
    ///   - processorTime: What its process has had of processors by then.
    init(at now: MonotonicInstant, _ processorTime: Duration) {
        look = now.advanced(by: Self.longestRun)
        end = now.advanced(by: Self.longestWait)
        self.processorTime = processorTime + Self.longestRun
    }

    /// Something that does not count took so long.
    mutating func postpone(by time: Duration) {
        look = look.advanced(by: time)
        end = end.advanced(by: time)
    }

    /// Whether the script has taken too long; when not, ``look`` is later.
    ///
    /// - Parameter processorTime: What its process has had of processors.
    mutating func isOver(at now: MonotonicInstant, _ processorTime: Duration) -> Bool {
        let left = self.processorTime - processorTime
        guard left > .zero, now < end else { return true }
        look = min(end, now.advanced(by: left))
        return false
    }
}
