import TestSupport
import Testing

@testable import TrawlWatch

@Suite("Metrics in the text format of Prometheus")
struct PrometheusTextTests {
    private func snapshot() -> EngineSnapshot {
        var counts = EngineCounts(measuresTimes: true)
        counts.responded(7, status: 200, from: .network)
        counts.responded(2, status: 404, from: .cache)
        counts.failed("timeout")
        counts.failed("odd \"\\\n kind")
        counts.took(.milliseconds(3))
        counts.took(.milliseconds(700))
        counts.took(.seconds(1000))
        counts.hopEnded(wasConnected: true, reused: true, firstByte: 900)
        counts.retried()
        var report = StatusReport(program: "batch", process: 1)
        report.traffic.received = 123
        report.workers = [
            .init(slot: 0, process: 2, state: .ready, transfers: 1, restarts: 3),
            .init(slot: 1, process: nil, state: .waiting, transfers: 0, restarts: 1),
        ]
        report.fetches.inFlight = 1
        return EngineSnapshot(report: report, counts: counts, startedAt: 1_700_000_000)
    }

    @Test("a strict reader finds what was counted")
    func values() throws {
        let read = try PrometheusReading(PrometheusText.of(snapshot()))
        #expect(read.samples["trawl_fetches_total{result=\"2xx\"}"] == 7)
        #expect(read.samples["trawl_fetches_total{result=\"4xx\"}"] == 2)
        #expect(read.samples["trawl_fetches_total{result=\"timeout\"}"] == 1)
        #expect(read.samples["trawl_fetches_total{result=\"odd \\\"\\\\\\n kind\"}"] == 1)
        #expect(read.samples["trawl_retries_total"] == 1)
        #expect(read.samples["trawl_received_bytes_total"] == 123)
        #expect(read.samples["trawl_cache_responses_total{cache=\"hit\"}"] == 2)
        #expect(read.samples["trawl_hops_total{connection=\"reused\"}"] == 1)
        #expect(read.samples["trawl_worker_restarts_total"] == 4)
        #expect(read.samples["trawl_workers{state=\"waiting\"}"] == 1)
        #expect(read.samples["trawl_fetch_duration_seconds_bucket{le=\"0.0025\"}"] == 0)
        #expect(read.samples["trawl_fetch_duration_seconds_bucket{le=\"0.005\"}"] == 1)
        #expect(read.samples["trawl_fetch_duration_seconds_bucket{le=\"300\"}"] == 2)
        #expect(read.samples["trawl_fetch_duration_seconds_bucket{le=\"+Inf\"}"] == 3)
        #expect(read.samples["trawl_fetch_duration_seconds_sum"] == 1000.703)
        #expect(read.samples["trawl_first_byte_seconds_count"] == 1)
        #expect(read.samples["trawl_start_time_seconds"] == 1_700_000_000)
        #expect(read.types["trawl_fetch_duration_seconds"] == "histogram")
    }

    @Test("nothing at all makes a text too, without times when none are measured")
    func nothing() throws {
        let empty = EngineSnapshot(
            report: StatusReport(program: "x", process: 1), counts: EngineCounts(), startedAt: 0)
        let read = try PrometheusReading(PrometheusText.of(empty))
        #expect(read.types["trawl_fetch_duration_seconds"] == nil)
        #expect(read.samples["trawl_fetches_total{result=\"2xx\"}"] == 0)
    }

    @Test(
        "seconds have no more digits than they need",
        arguments: [
            (0, "0"), (1, "0.000001"), (1000, "0.001"), (2500, "0.0025"), (1_000_000, "1"), (1_500_000, "1.5"),
            (UInt64.max, "18446744073709.551615"),
        ] as [(UInt64, String)])
    func seconds(_ microseconds: UInt64, _ text: String) {
        #expect(PrometheusText.seconds(microseconds) == text)
    }

    @Test(
        "the reader refuses what is not the format",
        arguments: [
            "x", "x 1\n", "# HELP a b\n# TYPE a counter\na 1\n", "# TYPE a_total counter\na_total 1\n",
            "# HELP a b\n# TYPE a gauge\na{b=1} 1\n", "# HELP a b\n# TYPE a gauge\na 1\na 2\n",
            "# HELP a b\n# TYPE a gauge\na{b=\"\\x\"} 1\n", "# HELP a b\n# TYPE a gauge\n\na 1\n",
            "# HELP a b\n# TYPE a gauge\nb 1\n", "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 1\n",
        ])
    func refused(_ text: String) {
        #expect(throws: PrometheusReading.Mistake.self) { _ = try PrometheusReading(text) }
    }
}
