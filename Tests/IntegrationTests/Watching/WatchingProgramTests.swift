import Glibc
import MetricsTestKit
import TestSupport
import Testing
import Trawl
import TrawlMetrics
import TrawlPlatform

@Suite("Programs that look on", .serialized, .timeLimit(.minutes(2)))
struct WatchingProgramTests {
    @Test("how many fetches there are is told as it changes, and the end of all a moment later (ASI-MISC-01)")
    func active() async throws {
        try await withOrigin { origin in
            let counts = Guarded<[Int]>([])
            let coordinator = try Coordinator(try testConfiguration(workers: 1))
            let following = Task {
                for await count in coordinator.activeCount { counts.withLock { $0.append(count) } }
            }
            #expect(await eventually { counts.withLock { $0 } == [0] })
            let stalled = coordinator.start(Request(origin.url("/stall?after=1")), into: .discard)
            #expect(await eventually { counts.withLock { $0 } == [0, 1] })
            let clock = ContinuousClock()
            let end = clock.now
            stalled.cancel()
            #expect(await eventually { counts.withLock { $0 } == [0, 1, 0] })
            #expect(clock.now - end >= .milliseconds(450))
            // A second one who looks on is told the number of now, and neither holds up the end.
            var iterator = coordinator.activeCount.makeAsyncIterator()
            #expect(await iterator.next() == 0)
            await coordinator.shutdown()
            await following.value
            while await iterator.next() != nil {}
            var late = coordinator.activeCount.makeAsyncIterator()
            #expect(await late.next() == nil)
        }
    }

    @Test("a metrics system is told differences, and each time as it was")
    func metrics() async throws {
        try await withOrigin { origin in
            let system = TestMetrics()
            let coordinator = try Coordinator(try testConfiguration(workers: 1))
            let reporting = Task {
                await MetricsReporter(coordinator, every: .milliseconds(100), factory: system).run()
            }
            // Durations are kept from the first report on.
            #expect(
                await eventually { system.meters(label: "trawl_fetches_in_flight").contains { !$0.values.isEmpty } })
            for _ in 0..<4 { _ = try await coordinator.send(Request(origin.url("/bytes/1000"))) }
            #expect(await eventually { system.counterTotal(label: "trawl_fetches_total") == 4 })
            _ = try await coordinator.send(Request(origin.url("/delay/50")))
            _ = try? await coordinator.send(Request("http://127.0.0.1:1/"))
            await coordinator.shutdown()
            await reporting.value
            #expect(system.counterTotal(label: "trawl_fetches_total", dimensions: [("result", "2xx")]) == 5)
            #expect(system.counterTotal(label: "trawl_fetches_total", dimensions: [("result", "connect")]) == 1)
            #expect(system.counterTotal(label: "trawl_hops_total", dimensions: [("connection", "reused")]) == 4)
            #expect(system.counterTotal(label: "trawl_received_bytes_total") > 4000)
            let ready = system.meters(label: "trawl_workers").filter { meter in
                meter.dimensions.contains { $0 == ("state", "ready") }
            }
            #expect(ready.contains { $0.values.contains(1) })
            #expect(system.meters(label: "trawl_hosts").contains { !$0.values.isEmpty })
            #expect(system.meters(label: "trawl_start_time_seconds").contains { ($0.values.last ?? 0) > 1e9 })
            let times = try system.expectTimer("trawl_fetch_duration_seconds").values
            #expect(times.count == 6 && times.contains { $0 >= 50_000_000 })
            #expect(try system.expectTimer("trawl_first_byte_seconds").values.count == 5)
        }
    }

    @Test("between two reports there may be any time")
    func eternity() async {
        // What goes wrong ends the process.
        await #expect(processExitsWith: .success) {
            let system = TestMetrics()
            let coordinator = try Coordinator(try testConfiguration(workers: 0))
            let reporter = MetricsReporter(coordinator, every: Duration.seconds(Int64.max) * 8, factory: system)
            let executor = AskingExecutor {}
            let reporting = Task(executorPreference: executor) { await reporter.run() }
            let isReported = await eventually {
                system.meters(label: "trawl_fetches_in_flight").contains { !$0.values.isEmpty }
            }
            expectInChild(isReported, "nothing is reported")
            while !executor.isIdle { await Task.yield() }
            reporting.cancel()
            await reporting.value
            await coordinator.shutdown()
        }
    }

    @Test("what a metrics system was told is not told again, whoever reports next")
    func reportedAgain() async throws {
        try await withOrigin { origin in
            let system = TestMetrics()
            try await withTestCoordinator(workers: 1) { coordinator in
                let first = MetricsReporter(coordinator, every: .seconds(60), factory: system)
                let second = MetricsReporter(coordinator, every: .seconds(60), factory: system)
                var count: Int64 = 0
                for (fetches, reporter) in [(4, first), (0, first), (0, second), (1, second), (1, first)] {
                    for _ in 0..<fetches { _ = try await coordinator.send(Request(origin.url("/bytes/10"))) }
                    count += Int64(fetches)
                    // What was counted by then is reported all the same.
                    let reporting = Task { await reporter.run() }
                    reporting.cancel()
                    await reporting.value
                    #expect(system.counterTotal(label: "trawl_fetches_total") == count)
                }
            }
        }
    }

    @Test("what is sent counts while it is sent")
    func sending() async throws {
        let peer = try ScriptedPeer { connection, _ in
            _ = connection.readHead()
            connection.drain()
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) {
            // Half a minute for it all.
            $0.bandwidth = BandwidthLimit(300_000)
        } _: { coordinator in
            var request = Request(.put, "http://\(peer.place)/u")
            request.body = .bytes(Array(repeating: 7, count: 9_000_000))
            let fetch = coordinator.start(request, into: .discard)
            #expect(
                await eventually {
                    let status = await coordinator.status()
                    return (status?.bytesSentPerSecond ?? 0) > 10_000 && status?.inFlight == 1
                })
            fetch.cancel()
            _ = try? await fetch.response
        }
    }

    @Test("what is received counts while it comes, and the cache has no share before a response")
    func receiving() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) {
                $0.bandwidth = BandwidthLimit(300_000)
            } _: { coordinator in
                let first = try #require(await coordinator.status())
                #expect(first.cacheShare == nil)
                let fetch = coordinator.start(Request(origin.url("/endless")), into: .discard)
                #expect(
                    await eventually { (await coordinator.status()?.bytesReceivedPerSecond ?? 0) > 10_000 })
                fetch.cancel()
                _ = try? await fetch.response
                _ = try await coordinator.send(Request(origin.url("/bytes/10")))
                let last = try #require(await coordinator.status())
                #expect(last.cacheShare == 0)
            }
        }
    }

    @Test("each step is told where that is wanted, and nothing secret (ASI-CONN-05, ASI-THR-08, ASI-MISC-04)")
    func debugging() async throws {
        try await withOrigin { origin in
            let said = Guarded<[String]>([])
            try await withTestCoordinator(workers: 1) {
                $0.debugLog = DebugLog([.status, .connections, .throttle]) { line in said.withLock { $0.append(line) } }
                $0.bandwidth = BandwidthLimit(200_000)
            } _: { coordinator in
                var request = Request(origin.url("/redirect-to?url=/bytes/60000%3Ftoken=hidden&token=hidden"))
                request.fields["Authorization"] = "Bearer hidden"
                request.fields["Cookie"] = "a=hidden"
                _ = try await coordinator.send(request)
                _ = try await coordinator.send(Request(origin.url("/bytes/60000?%1B[2J")))
                _ = try await coordinator.send(Request(origin.url("/close-idle?ms=1")))
                let isClosed = await eventually { ProcessTree.unreadBytes(ofConnectionsTo: origin.port).isEmpty }
                #expect(isClosed)
                _ = try await coordinator.send(Request(origin.url("/bytes/10")))
                _ = try await coordinator.send(Request(origin.url("/close-after-request")))
            }
            let lines = said.withLock { $0 }
            func has(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
            #expect(has(": GET http://127.0.0.1:\(origin.port)/redirect-to?..."))
            #expect(has(": sent to worker 0") && has(": redirected by 302 to http://127.0.0.1"))
            #expect(has("ended: status 200, 60000 bytes, network"))
            let passed = lines.filter { $0.contains("passed: sent ") }
            // Five exchanges and a redirect.
            #expect(passed.count == 6 && passed.contains { $0.contains("received 60") }, "\(passed)")
            #expect(has("connection 0:1 to 127.0.0.1 port \(origin.port), new") && has(", used again"))
            #expect(has(" closed, which was idle"))
            #expect(has(", new, for a request that an earlier one ended under"))
            #expect(has("throttle: received ") && has("throttle: transfers rest"))
            #expect(!has("hidden") && lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 } })
        }
    }

    @Test("the command tells them on standard error, and refuses other kinds")
    func command() async throws {
        try await withOrigin { origin in
            let url = origin.url("/bytes/10?secret=hidden")
            let run = try CommandRun(["get", "--debug", "status,connections", url])
            #expect(run.status == 0 && run.output.count == 10)
            #expect(run.errors.contains("trawl: fetch 0.1: GET http://127.0.0.1:\(origin.port)/bytes/10?...\n"))
            #expect(run.errors.contains("ended: status 200, 10 bytes, network\n") && !run.errors.contains("hidden"))
            #expect(try CommandRun(["get", url]).errors.isEmpty)
            for kinds in ["", "status,", "everything"] {
                let refused = try CommandRun(["get", "--debug", kinds, url])
                #expect(refused.status == 2 && refused.errors.contains("--debug"))
            }
        }
    }
}
