import Metrics
import Trawl
import TrawlWatch

/// The metrics of a run, and what was told of them, so that differences are told.
struct ReportedMetrics {
    private let factory: any MetricsFactory
    private let told: ToldTotals
    private var counters: [String: Counter] = [:]
    private let workers: [(state: StatusReport.Worker.State, meter: Meter)]
    private let inFlight: Meter
    private let waiting: Meter
    private let hosts: Meter
    private let startTime: Meter
    private let durations: Timer
    private let firstBytes: Timer

    init(_ factory: any MetricsFactory, _ told: ToldTotals) {
        self.factory = factory
        self.told = told
        workers = StatusReport.Worker.State.allCases.map { state in
            (state, Meter(label: "trawl_workers", dimensions: [("state", state.rawValue)], factory: factory))
        }
        inFlight = Meter(label: "trawl_fetches_in_flight", factory: factory)
        waiting = Meter(label: "trawl_fetches_waiting", factory: factory)
        hosts = Meter(label: "trawl_hosts", factory: factory)
        startTime = Meter(label: "trawl_start_time_seconds", factory: factory)
        durations = Timer(label: "trawl_fetch_duration_seconds", factory: factory)
        firstBytes = Timer(label: "trawl_first_byte_seconds", factory: factory)
    }

    mutating func report(_ snapshot: EngineSnapshot) {
        let counts = snapshot.counts
        for digit in 1...5 { count("trawl_fetches_total", ("result", "\(digit)xx"), counts.responses[digit]) }
        if counts.responses[0] > 0 { count("trawl_fetches_total", ("result", "unknown_status"), counts.responses[0]) }
        for (code, number) in counts.failures { count("trawl_fetches_total", ("result", code), number) }
        count("trawl_retries_total", nil, counts.retries)
        count("trawl_cache_responses_total", ("cache", "hit"), counts.cache.hits)
        count("trawl_cache_responses_total", ("cache", "validated"), counts.cache.validated)
        count("trawl_cache_responses_total", ("cache", "stale"), counts.cache.stale)
        count("trawl_cache_responses_total", ("cache", "miss"), counts.cache.misses)
        count("trawl_hops_total", ("connection", "new"), counts.newConnections)
        count("trawl_hops_total", ("connection", "reused"), counts.reusedConnections)
        count("trawl_hops_total", ("connection", "none"), counts.withoutConnection)
        count("trawl_received_bytes_total", nil, snapshot.report.traffic.received)
        count("trawl_sent_bytes_total", nil, snapshot.report.traffic.sent)
        let restarts = snapshot.report.workers.reduce(0) { $0 + max(0, $1.restarts) }
        count("trawl_worker_restarts_total", nil, UInt64(restarts))
        for (state, meter) in workers { meter.set(snapshot.report.workers.count { $0.state == state }) }
        inFlight.set(snapshot.report.fetches.inFlight)
        waiting.set(snapshot.report.fetches.waiting)
        hosts.set(snapshot.report.hostCount)
        startTime.set(snapshot.startedAt)
        for time in snapshot.latestTimes.durations { durations.recordMicroseconds(Int64(clamping: time)) }
        for time in snapshot.latestTimes.firstBytes { firstBytes.recordMicroseconds(Int64(clamping: time)) }
    }

    private mutating func count(_ name: String, _ dimension: (String, String)?, _ total: UInt64) {
        let key = name + (dimension.map { "\0\($0.0)\0\($0.1)" } ?? "")
        let counter = counters[key] ?? Counter(label: name, dimensions: dimension.map { [$0] } ?? [], factory: factory)
        counters[key] = counter
        let growth = told.growth(of: key, to: total)
        if growth > 0 { counter.increment(by: Int64(clamping: growth)) }
    }
}
