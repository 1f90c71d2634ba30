// TrawlMetrics: the counters of a coordinator for the metrics system of a program. It asks for them from time to time,
// so the engine knows nothing of that system and waits for none.

public import Metrics
public import Trawl
import TrawlWatch

/// Tells what a coordinator counts to the metrics system that a program has chosen (swift-metrics).
///
/// ```swift
/// async let reporting: Void = MetricsReporter(coordinator).run()
/// ```
///
/// The names are those of `docs/watching.md`. Durations are timers, each time recorded as it was; from the first report
/// on.
public struct MetricsReporter: Sendable {
    private let coordinator: Coordinator
    private let interval: Duration
    private let factory: any MetricsFactory

    /// A reporter that does nothing before it is run. One at a time for a coordinator; what it has told is told by no
    /// later run, of whichever reporter and to whichever system.
    ///
    /// - Parameters:
    ///   - interval: How often the coordinator is asked, a tenth of a second at least. Between two times 16,384 durations are kept.
    ///   - factory: Nil is that of the process (`MetricsSystem.factory`).
    public init(
        _ coordinator: Coordinator, every interval: Duration = .seconds(5), factory: (any MetricsFactory)? = nil
    ) {
        self.coordinator = coordinator
        self.interval = max(.milliseconds(100), interval)
        self.factory = factory ?? MetricsSystem.factory
    }

    /// Reports until the task is cancelled or the coordinator has ended; what was counted by then is reported at last.
    public func run() async {
        var reported = ReportedMetrics(factory, coordinator.toldTotals)
        while let snapshot = await coordinator.snapshotTakingTimes() {
            reported.report(snapshot)
            if Task.isCancelled { return }
            try? await Task.sleep(forAnyTime: interval)
        }
        if let snapshot = await coordinator.lastSnapshot() { reported.report(snapshot) }
    }
}
