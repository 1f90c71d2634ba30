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

/// A driver on its way to the supervisor's thread.
///
/// `@unchecked Sendable`: who hands it over does not touch it again before the gate that goes with it is open.
struct DriverHandover: @unchecked Sendable {
    let driver: any FetchDriver
}
