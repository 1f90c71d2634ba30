/// What a coordinator is doing, and what it has done.
package struct EngineSnapshot: Sendable, Hashable {
    /// What it is doing.
    package var report: StatusReport
    /// What it has done.
    package var counts: EngineCounts
    /// When it started, in seconds since 1970.
    package var startedAt: Int64
    /// Times since those were last taken, where they are.
    package var latestTimes = LatestTimes()

    /// Both of one moment.
    package init(report: StatusReport, counts: EngineCounts, startedAt: Int64) {
        self.report = report
        self.counts = counts
        self.startedAt = startedAt
    }
}
