package import TrawlWatch

/// What a coordinator is doing at one moment.
public struct CoordinatorStatus: Sendable {
    /// The same as the value it is made of.
    package let report: StatusReport

    /// The status that a report tells.
    package init(_ report: StatusReport) { self.report = report }

    /// How long the coordinator has lived.
    public var uptime: Duration { report.uptime }
    /// Fetches that wait: for a host, for a time, for a worker. Those of a ``FetchQueue`` that have not started are
    /// none.
    public var waiting: Int { report.fetches.waiting }
    /// Fetches that a worker has.
    public var inFlight: Int { report.fetches.inFlight }
    /// Fetches that were answered by a response, whatever its status.
    public var done: UInt64 { report.fetches.done }
    /// Fetches that were answered by an error.
    public var failed: UInt64 { report.fetches.failed }
    /// Bytes received a second, over the last five.
    public var bytesReceivedPerSecond: UInt64 { report.traffic.receivedRate }
    /// Bytes sent a second, over the last five.
    public var bytesSentPerSecond: UInt64 { report.traffic.sentRate }
    /// The part of all responses that came from the cache, validated or not, 0 to 1; nil before the first response.
    public var cacheShare: Double? { report.cache.share }
    /// All of it, as the line of JSON that a status socket gives; `docs/watching.md` has its form.
    public var json: [UInt8] { report.json }
}
