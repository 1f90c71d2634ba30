package import TrawlHTTP

/// Who drives many fetches from the supervisor's own thread: `trawl batch`.
///
/// A task or a thread of one's own for each fetch, or one that is woken for each group of answers, costs more than the
/// coordinator's own work for a small request. A driver is called once in each of the supervisor's turns instead. What
/// it does there keeps everything else waiting, so it reads and writes files and waits for nothing.
///
/// Bound to the supervisor thread once it is handed over.
package protocol FetchDriver: AnyObject {
    /// Whether it reads ``Response/metrics``; they are empty where it does not. Always the same.
    var readsMetrics: Bool { get }

    /// Takes the answers that came since the last turn, in their order, and says what is next.
    ///
    /// - Parameters:
    ///   - now: The time of this turn.
    ///   - load: How busy the workers are.
    func turn(_ answers: [FetchAnswer], at now: MonotonicInstant, _ load: DriverLoad) -> DriverTurn
}

/// How busy the workers are, as the last turn's fetches left them.
package struct DriverLoad: Sendable {
    /// Whether a worker could take one more: what waits, if any does, is of hosts that may have no more in flight now.
    package var hasRoom = false
    /// Whether that is so of a quarter of what may be in flight, and more. A turn that starts fetches and leaves so
    /// much room has another one after it at once.
    package var hasIdleWorkers = false
    /// How many fetches wait for a time or for the network, and for no worker: most of them to be tried again.
    package var waiting = 0
}

/// What became of one fetch of a driver. Small, whatever the result is: its parts are shared.
package struct FetchAnswer: Sendable {
    /// The number the fetch was given when it was prepared.
    package let tag: UInt64
    /// Its one result.
    package let result: Result<Response, FetchError>
    /// How often it was tried, the last time included.
    package let attempts: Int

    init(tag: UInt64, result: Result<Response, FetchError>, attempts: Int) {
        self.tag = tag
        self.result = result
        self.attempts = attempts
    }
}

/// What a driver wants after a turn.
package struct DriverTurn {
    /// Fetches to start, in their order.
    package var start: [PreparedFetch]
    /// A descriptor whose input starts a turn; nil to wait for none. Not one of a regular file.
    package var input: Int32?
    /// When there is to be a turn whatever happens; nil for never.
    package var wakeAt: MonotonicInstant?
    /// Whether there is to be a turn as soon as there is room (``DriverLoad/hasRoom``).
    package var wantsRoom = false
    /// Whether the driver is done: it is not called again. No fetch of its is in flight then.
    package var isFinished: Bool

    /// What to do next.
    package init(
        start: [PreparedFetch] = [], input: Int32? = nil, wakeAt: MonotonicInstant? = nil, isFinished: Bool = false
    ) {
        self.start = start
        self.input = input
        self.wakeAt = wakeAt
        self.isFinished = isFinished
    }
}

/// A driver on its way to the supervisor's thread.
///
/// `@unchecked Sendable`: who hands it over does not touch it again before the gate that goes with it is open.
struct DriverHandover: @unchecked Sendable {
    let driver: any FetchDriver
}
