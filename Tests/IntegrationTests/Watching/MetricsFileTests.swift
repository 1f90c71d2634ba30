import Foundation
import Glibc
import TestSupport
import Testing
import Trawl

@Suite("Metrics in a file", .serialized, .timeLimit(.minutes(2)))
struct MetricsFileTests {
    private func read(_ directory: TemporaryDirectory, _ name: String) throws -> PrometheusReading {
        try PrometheusReading(String(decoding: try #require(directory.content(name)), as: UTF8.self))
    }

    @Test("a coordinator's file counts what became of its fetches, meanwhile and at the end")
    func library() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("metrics.prom")
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) {
                $0.metricsFile = MetricsFile(path, every: .milliseconds(100))
            } _: { coordinator in
                #expect(directory.content("metrics.prom") != nil)
                for _ in 0..<5 { _ = try await coordinator.send(Request(origin.url("/bytes/1000"))) }
                _ = try await coordinator.send(Request(origin.url("/status/404")))
                _ = try? await coordinator.send(Request("http://127.0.0.1:1/"))
                #expect(
                    await eventually {
                        (try? read(directory, "metrics.prom"))?.samples["trawl_fetches_total{result=\"4xx\"}"] == 1
                    })
                // Of its last interval, which the end must not lose.
                _ = try await coordinator.send(Request(origin.url("/bytes/7")))
            }
        }
        let metrics = try read(directory, "metrics.prom").samples
        #expect(metrics["trawl_fetches_total{result=\"2xx\"}"] == 6)
        #expect(metrics["trawl_fetches_total{result=\"4xx\"}"] == 1)
        #expect(metrics["trawl_fetches_total{result=\"connect\"}"] == 1)
        #expect(metrics["trawl_fetch_duration_seconds_count"] == 8)
        #expect(metrics["trawl_first_byte_seconds_count"] == 7)
        #expect(metrics["trawl_hops_total{connection=\"new\"}"] == 1)
        #expect(metrics["trawl_hops_total{connection=\"reused\"}"] == 6)
        #expect((metrics["trawl_received_bytes_total"] ?? 0) > 5000)
        #expect(metrics["trawl_cache_responses_total{cache=\"miss\"}"] == 7)
        var info = stat()
        #expect(stat(path, &info) == 0 && info.st_mode & 0o044 == 0o044 & ~currentMask())
        #expect(try directory.names() == ["metrics.prom"])
    }

    private func currentMask() -> mode_t {
        let mask = umask(0o022)
        umask(mask)
        return mask
    }

    @Test("one that cannot be written is known at the start; one that goes away is told, and fetches go on")
    func unwritable() async throws {
        let directory = try TemporaryDirectory()
        var configuration = try testConfiguration(workers: 0)
        configuration.metricsFile = MetricsFile(directory.file("no/such"))
        let error = #expect(throws: FetchError.self) { _ = try Coordinator(configuration) }
        #expect(error?.code == .file)
        for file in [MetricsFile(""), MetricsFile("x", every: .zero), MetricsFile("x", every: .seconds(-1))] {
            configuration.metricsFile = file
            let error = #expect(throws: FetchError.self) { _ = try Coordinator(configuration) }
            #expect(error?.code == .badRequest)
        }
        let inner = try directory.makeDirectory("inner")
        try await withTestCoordinator(workers: 0) {
            $0.metricsFile = MetricsFile(inner + "/metrics", every: .milliseconds(100))
        } _: { coordinator in
            // In one step: a directory that is being removed may get another file meanwhile.
            #expect(rename(inner, directory.file("away")) == 0)
            #expect(await eventually { coordinator.metricsProblem?.code == .file })
            _ = try directory.makeDirectory("inner")
            #expect(await eventually { coordinator.metricsProblem == nil })
        }
    }

    @Test("a batch keeps one, with the answers of the cache in it")
    func batch() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let urls = (0..<20).map { origin.url("/bytes/\($0 + 1)?field=Cache-Control:%20max-age=600") }
            try directory.put("list", Array(urls.map { $0 + "\n" }.joined().utf8))
            for (hits, misses) in [(0.0, 20.0), (20, 0)] {
                let run = try CommandRun([
                    "batch", directory.file("list"), "--no-files", "--store", directory.file("store"),
                    "--metrics-file", directory.file("metrics"),
                ])
                #expect(run.status == 0, "\(run.errors)")
                let metrics = try read(directory, "metrics").samples
                #expect(metrics["trawl_fetches_total{result=\"2xx\"}"] == 20)
                #expect(metrics["trawl_cache_responses_total{cache=\"hit\"}"] == hits)
                #expect(metrics["trawl_cache_responses_total{cache=\"miss\"}"] == misses)
            }
        }
    }

    @Test("what callers answer themselves from the cache counts too")
    func callers() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let found = origin.url("/bytes/5?field=Cache-Control:%20max-age=600")
            let missing = origin.url("/status/404?field=Cache-Control:%20max-age=600")
            try await withTestCoordinator(workers: 1) {
                $0.store = .directory(directory.file("store"))
                $0.metricsFile = MetricsFile(directory.file("metrics"))
            } _: { coordinator in
                for url in [found, missing] {
                    for _ in 0..<10 { _ = try await coordinator.send(Request(url)) }
                }
                #expect(await coordinator.status()?.done == 20)
            }
        }
        let metrics = try read(directory, "metrics").samples
        #expect(metrics["trawl_fetches_total{result=\"2xx\"}"] == 10)
        #expect(metrics["trawl_fetches_total{result=\"4xx\"}"] == 10)
        #expect(metrics["trawl_cache_responses_total{cache=\"hit\"}"] == 18)
        #expect(metrics["trawl_cache_responses_total{cache=\"miss\"}"] == 2)
    }

    @Test("what workers deliver from the cache is no exchange with a server")
    func deliveredByWorkers() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let found = Request(origin.url("/bytes/5?field=Cache-Control:%20max-age=600"))
            try await withTestCoordinator(workers: 1) {
                $0.store = .directory(directory.file("store"))
                $0.metricsFile = MetricsFile(directory.file("metrics"))
            } _: { coordinator in
                _ = try await coordinator.send(found)
                for _ in 0..<3 {
                    let fetch = coordinator.start(found, into: .stream)
                    let bytes = try await readStream(fetch)
                    #expect(bytes.count == 5)
                }
            }
        }
        let metrics = try read(directory, "metrics").samples
        #expect(metrics["trawl_cache_responses_total{cache=\"hit\"}"] == 3)
        #expect(metrics["trawl_hops_total{connection=\"new\"}"] == 1)
        #expect(metrics["trawl_hops_total{connection=\"none\"}"] == 0)
    }

    private static let promtool = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { $0 + "/promtool" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test("Prometheus's own tool finds nothing wrong", .enabled(if: promtool != nil, "promtool is not installed"))
    func checked() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) {
                $0.metricsFile = MetricsFile(directory.file("metrics"))
            } _: { coordinator in
                for _ in 0..<3 { _ = try await coordinator.send(Request(origin.url("/bytes/1000"))) }
                _ = try? await coordinator.send(Request("http://127.0.0.1:1/"))
            }
        }
        let metrics = String(decoding: try #require(directory.content("metrics")), as: UTF8.self)
        let run = try CommandRun(program: try #require(Self.promtool), ["check", "metrics"], input: metrics)
        #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty, "\(run)")
    }
}
