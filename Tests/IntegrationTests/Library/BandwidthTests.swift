import Glibc
import Testing
import Trawl

/// Lower bounds of time hold on any machine: nothing may be faster than the limit. Upper ones are wide.
@Suite("One limit of bandwidth for all workers, ASI-THR, POOL-08", .bed(), .serialized, .timeLimit(.minutes(3)))
struct BandwidthTests {
    private let clock = ContinuousClock()

    /// How long `count` fetches of `target` take, all at once.
    private func time(
        _ count: Int, of target: String, workers: Int, limit: BandwidthLimit,
        adjust: @escaping @Sendable (inout Request) -> Void = { _ in }
    ) async throws -> Duration {
        let bed = try Bed.current
        return try await withTestCoordinator(workers: workers) { configuration in
            configuration.bandwidth = limit
        } _: { coordinator in
            let begin = clock.now
            try await withThrowingTaskGroup { group in
                for number in 0..<count {
                    group.addTask {
                        var request = Request(bed.origin.url(target.replacing("#", with: "\(number)")))
                        adjust(&request)
                        let response = try await coordinator.send(request, into: .discard)
                        #expect(response.status == 200)
                    }
                }
                try await group.waitForAll()
            }
            return clock.now - begin
        }
    }

    @Test("many workers and connections together take no more than the limit", arguments: [0, 1, 4])
    func together(workers: Int) async throws {
        // 2 MiB at 1 MiB/s.
        let elapsed = try await time(
            16, of: "/bytes/131072?seed=#", workers: workers, limit: BandwidthLimit(1 << 20))
        #expect(elapsed > .seconds(1.9))
        #expect(elapsed < .seconds(6))
    }

    @Test("small responses count before they come")
    func small() async throws {
        // 400 times 4 KiB and its head at 1 MiB/s.
        let elapsed = try await time(400, of: "/bytes/4096?seed=#", workers: 4, limit: BandwidthLimit(1 << 20))
        #expect(elapsed > .seconds(1.5))
        #expect(elapsed < .seconds(6))
    }

    @Test("what is sent counts as well, or has a limit of its own", arguments: [100_000, 40_000])
    func uploads(length: Int) async throws {
        let body = Request.Body.bytes([UInt8](repeating: 1, count: length))
        let send: @Sendable (inout Request) -> Void = { request in
            request.method = .post
            request.body = body
        }
        let count = 1_000_000 / length
        let joint = try await time(count, of: "/delay/0", workers: 2, limit: BandwidthLimit(500_000), adjust: send)
        #expect(joint > .seconds(1.9))
        let own = try await time(
            count, of: "/delay/0", workers: 2, limit: BandwidthLimit(download: 0, upload: 1_000_000), adjust: send)
        #expect(own > .seconds(0.9))
        let other = try await time(
            count, of: "/delay/0", workers: 2, limit: BandwidthLimit(download: 1_000_000, upload: 0), adjust: send)
        #expect(other < .seconds(0.9))
    }

    @Test("a limit that comes, changes and goes holds for what runs")
    func changed() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 2) { coordinator in
            coordinator.setBandwidthLimit(BandwidthLimit(1 << 20))
            let fetch = coordinator.start(Request(bed.origin.url("/bytes/300000000")), into: .discard)
            var received: UInt64 = 0
            var lifted = false
            for await event in fetch.events {
                guard case .progress(let progress) = event else { continue }
                received = progress.received
                if !lifted, received > 500_000 {
                    #expect(received < 100_000_000)
                    #expect(coordinator.bandwidthLimit == BandwidthLimit(1 << 20))
                    coordinator.setBandwidthLimit(.none)
                    lifted = true
                }
            }
            // Nearly five minutes at the first rate.
            let response = try await fetch.response
            #expect(response.receivedLength == 300_000_000)
            #expect(coordinator.averageBytesPerSecond > 0)
            #expect(!coordinator.isThrottled)
        }
    }

    @Test("an exempt request does not wait and is not counted")
    func exempt() async throws {
        let elapsed = try await time(8, of: "/bytes/1000000?seed=#", workers: 2, limit: .mobile) {
            $0.options.isExemptFromBandwidthLimits = true
        }
        #expect(elapsed < .seconds(30))
    }

    @Test("each origin has its own share of a limit for each")
    func perHost() async throws {
        let bed = try Bed.current
        let others = [try LoopbackOriginProcess(), try LoopbackOriginProcess()]
        defer { for other in others { other.stop() } }
        try await withTestCoordinator(workers: 2) { configuration in
            configuration.bandwidthPerHost = BandwidthLimit(500_000)
        } _: { coordinator in
            let begin = clock.now
            try await withThrowingTaskGroup { group in
                for number in 0..<12 {
                    let origin = [bed.origin, others[0], others[1]][number % 3]
                    group.addTask {
                        _ = try await coordinator.send(
                            Request(origin.url("/bytes/250000?seed=\(number)")), into: .discard)
                    }
                }
                try await group.waitForAll()
            }
            let elapsed = clock.now - begin
            // A million bytes from each, and three from all.
            #expect(elapsed > .seconds(1.9))
            #expect(elapsed < .seconds(5.5))
        }
    }

    @Test("waiting for bandwidth is no inactivity", arguments: Engine.allCases)
    func clocks(engine: Engine) async throws {
        // 40 steps of 4 KiB, one of which takes half a second.
        let elapsed = try await time(3, of: "/bytes/20000?seed=#", workers: engine.workers, limit: BandwidthLimit(8000))
        {
            $0.options.timeLimits.inactivity = .milliseconds(300)
        }
        #expect(elapsed > .seconds(6.5))
    }

    @Test("a fetch that waits for bandwidth can be cancelled")
    func cancelled() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 1) { configuration in
            configuration.bandwidth = BandwidthLimit(10)
        } _: { coordinator in
            let fetches = (0..<8).map {
                coordinator.start(Request(bed.origin.url("/bytes/100000?seed=\($0)")), into: .discard)
            }
            for fetch in fetches { fetch.cancel() }
            for fetch in fetches { await failure(.cancelled) { try await fetch.response } }
            coordinator.setBandwidthLimit(.none)
            let response = try await coordinator.send(Request(bed.origin.url("/bytes/1000")))
            #expect(response.body.count == 1000)
        }
    }
}
