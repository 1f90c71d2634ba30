/// What the metrics of a coordinator are.
extension PrometheusText {
    mutating func add(_ snapshot: EngineSnapshot) {
        addResults(snapshot.counts)
        addTimes(snapshot.counts)
        addTraffic(snapshot.report.traffic)
        addCache(snapshot.counts.cache)
        addHops(snapshot.counts)
        addPool(snapshot.report)
        begin("trawl_start_time_seconds", .gauge, "When the coordinator started, in seconds since 1970.")
        sample("trawl_start_time_seconds", UInt64(max(0, snapshot.startedAt)))
    }

    private mutating func addResults(_ counts: EngineCounts) {
        let name = "trawl_fetches_total"
        begin(name, .counter, "Fetches that ended, by the class of their status or the code of their error.")
        for digit in 1...5 { sample(name, labels: [("result", "\(digit)xx")], counts.responses[digit]) }
        if counts.responses[0] > 0 { sample(name, labels: [("result", "unknown_status")], counts.responses[0]) }
        for (code, count) in counts.failures.sorted(by: { $0.key < $1.key }) {
            sample(name, labels: [("result", code)], count)
        }
        begin("trawl_retries_total", .counter, "Attempts that were followed by another one.")
        sample("trawl_retries_total", counts.retries)
    }

    private mutating func addTimes(_ counts: EngineCounts) {
        if let durations = counts.durations {
            histogram("trawl_fetch_duration_seconds", "From the start of a fetch to its answer.", durations)
        }
        if let firstBytes = counts.firstBytes {
            histogram(
                "trawl_first_byte_seconds", "From the start of a hop to the first byte of its response.", firstBytes)
        }
    }

    private mutating func addTraffic(_ traffic: StatusReport.Traffic) {
        begin("trawl_received_bytes_total", .counter, "Bytes received.")
        sample("trawl_received_bytes_total", traffic.received)
        begin("trawl_sent_bytes_total", .counter, "Bytes sent.")
        sample("trawl_sent_bytes_total", traffic.sent)
    }

    private mutating func addCache(_ cache: StatusReport.Cache) {
        let name = "trawl_cache_responses_total"
        begin(name, .counter, "Responses, by what the cache had to do with them.")
        sample(name, labels: [("cache", "hit")], cache.hits)
        sample(name, labels: [("cache", "validated")], cache.validated)
        sample(name, labels: [("cache", "stale")], cache.stale)
        sample(name, labels: [("cache", "miss")], cache.misses)
    }

    private mutating func addHops(_ counts: EngineCounts) {
        let name = "trawl_hops_total"
        begin(name, .counter, "Exchanges with servers that ended, by their connection.")
        sample(name, labels: [("connection", "new")], counts.newConnections)
        sample(name, labels: [("connection", "reused")], counts.reusedConnections)
        sample(name, labels: [("connection", "none")], counts.withoutConnection)
    }

    private mutating func addPool(_ report: StatusReport) {
        begin("trawl_worker_restarts_total", .counter, "Workers that took the place of others.")
        sample("trawl_worker_restarts_total", UInt64(report.workers.reduce(0) { $0 + max(0, $1.restarts) }))
        begin("trawl_workers", .gauge, "Worker slots, by what is in them.")
        for state in StatusReport.Worker.State.allCases {
            let count = report.workers.count { $0.state == state }
            sample("trawl_workers", labels: [("state", state.rawValue)], UInt64(count))
        }
        begin("trawl_fetches_in_flight", .gauge, "Fetches that a worker has.")
        sample("trawl_fetches_in_flight", UInt64(max(0, report.fetches.inFlight)))
        begin("trawl_fetches_waiting", .gauge, "Fetches that wait.")
        sample("trawl_fetches_waiting", UInt64(max(0, report.fetches.waiting)))
        begin("trawl_hosts", .gauge, "Hosts where something runs or waits, or that are held back.")
        sample("trawl_hosts", UInt64(max(0, report.hostCount)))
    }
}
