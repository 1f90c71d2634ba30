import Glibc
import Testing
import Trawl

extension BandwidthLimit {
    /// The limit with more credit: a busy machine lets nobody read for a while, and that time is made up for.
    func with(burst: Duration) -> BandwidthLimit {
        var limit = self
        limit.burst = burst
        return limit
    }
}

/// Lower bounds of time hold on any machine: nothing may be faster than the limit. Upper ones are wide.
@Suite("One limit of bandwidth for all workers, ASI-THR-01, POOL-08", .bed(), .serialized, .timeLimit(.minutes(10)))
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
            // The start of a worker does not count.
            var first = Request(bed.origin.url("/bytes/1"))
            first.options.isExemptFromBandwidthLimits = true
            _ = try await coordinator.send(first, into: .discard)
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
            16, of: "/bytes/131072?seed=#", workers: workers,
            limit: BandwidthLimit(1 << 20).with(burst: .milliseconds(200)))
        #expect(elapsed > .seconds(1.7))
        #expect(elapsed < .seconds(60))
    }

    @Test("small responses count before they come")
    func small() async throws {
        // 400 times 4 KiB and its head at 1 MiB/s.
        let elapsed = try await time(
            400, of: "/bytes/4096?seed=#", workers: 4, limit: BandwidthLimit(1 << 20).with(burst: .milliseconds(200)))
        #expect(elapsed > .seconds(1.3))
        #expect(elapsed < .seconds(60))
    }

    @Test("what is sent counts as well, or has a limit of its own (ASI-THR-06)", arguments: [100_000, 40_000])
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
            count, of: "/delay/0", workers: 2,
            limit: BandwidthLimit(download: 40_000, upload: 0).with(burst: .seconds(1)), adjust: send)
        // With the bodies it would be 25 seconds.
        #expect(other < .seconds(20))
    }

    @Test("a limit that comes, changes and goes holds for what runs (ASI-THR-04)")
    func changed() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 2) { coordinator in
            coordinator.setBandwidthLimit(BandwidthLimit(100 << 10))
            let fetch = coordinator.start(Request(bed.origin.url("/bytes/60000000")), into: .discard)
            var received: UInt64 = 0
            var lifted = false
            for await event in fetch.events {
                guard case .progress(let progress) = event else { continue }
                received = progress.received
                if !lifted, received > 50_000 {
                    #expect(received < 20_000_000)
                    #expect(coordinator.bandwidthLimit == BandwidthLimit(100 << 10))
                    coordinator.setBandwidthLimit(.none)
                    lifted = true
                }
            }
            // Nearly ten minutes at the first rate.
            let response = try await fetch.response
            #expect(response.receivedLength == 60_000_000)
            #expect(coordinator.averageBytesPerSecond > 0)
            #expect(!coordinator.isThrottled)
        }
    }

    @Test("fetches under a limit are told as waiting, and the average comes to the limit (ASI-THR-04)")
    func told() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 2) { configuration in
            configuration.bandwidth = BandwidthLimit(1_000_000).with(burst: .milliseconds(200))
        } _: { coordinator in
            let fetch = coordinator.start(Request(bed.origin.url("/bytes/300000000")), into: .discard)
            let isTold = await eventually(within: .seconds(60)) { coordinator.isThrottled }
            // A busy machine takes less than it may.
            let comesTo = await eventually(within: .seconds(60)) {
                (200_000...1_200_000).contains(coordinator.averageBytesPerSecond)
            }
            #expect(isTold && comesTo, "\(coordinator.averageBytesPerSecond)")
            fetch.cancel()
        }
    }

    @Test("one limit for both ways is shared by what comes and what goes at the same time")
    func bothWays() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 2) { configuration in
            configuration.bandwidth = BandwidthLimit(500_000)
        } _: { coordinator in
            let begin = clock.now
            let body = Request.Body.bytes([UInt8](repeating: 1, count: 100_000))
            let fetches = (0..<10).map { number in
                let target = number % 2 == 0 ? "/delay/0?n=\(number)" : "/bytes/100000?seed=\(number)"
                var request = Request(bed.origin.url(target))
                if number % 2 == 0 {
                    request.method = .post
                    request.body = body
                }
                return coordinator.start(request, into: .discard)
            }
            for fetch in fetches {
                let response = try await fetch.response
                #expect(response.status == 200)
            }
            // Two seconds; each way alone is over in one.
            #expect(clock.now - begin > .seconds(1.6))
        }
    }

    @Test("heads count too (ASI-THR-03)")
    func heads() async throws {
        let fields = (0..<50).map { ("X-Long-\($0)", String(repeating: "x", count: 1000)) }
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Answer(200, "", fields) }
        defer { origin.stop() }
        try await withTestCoordinator(workers: 2) { configuration in
            configuration.bandwidth = BandwidthLimit(500_000)
        } _: { coordinator in
            let begin = clock.now
            let fetches = (0..<20).map { coordinator.start(Request(origin.url("/\($0)"))) }
            for fetch in fetches {
                let response = try await fetch.response
                #expect(response.status == 200 && response.body.isEmpty)
            }
            // A megabyte, and no body.
            #expect(clock.now - begin > .seconds(1))
        }
    }

    @Test("a new limit holds in all workers within 250 ms (ASI-THR-01)")
    func soon() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 4) { configuration in
            configuration.bandwidth = BandwidthLimit(2_000_000)
        } _: { coordinator in
            let fetches = (0..<8).map {
                coordinator.start(Request(bed.origin.url("/bytes/300000000?seed=\($0)")), into: .discard)
            }
            func received() -> Int64 { fetches.reduce(0) { $0 + $1.currentProgress.download.completed } }
            /// Bytes a second, of all that comes in a second.
            func rate() async throws -> Double {
                let (begin, before) = (clock.now, received())
                try await clock.sleep(for: .seconds(1))
                return Double(received() - before) / ((clock.now - begin) / .seconds(1))
            }
            let isRunning = await eventually(within: .seconds(60)) { received() > 1_000_000 }
            try #require(isRunning)
            var (slow, fast) = (Double.infinity, 0.0)
            // A busy machine spoils some tries: one that is good is enough.
            for _ in 0..<10 {
                coordinator.setBandwidthLimit(BandwidthLimit(200_000))
                try await clock.sleep(for: .milliseconds(250))
                slow = try await min(slow, rate())
                coordinator.setBandwidthLimit(BandwidthLimit(4_000_000).with(burst: .seconds(1)))
                try await clock.sleep(for: .milliseconds(250))
                fast = try await max(fast, rate())
                if slow < 300_000, fast > 1_000_000 { break }
            }
            #expect(slow < 300_000)
            // Far above the limit before.
            #expect(fast > 1_000_000)
            for fetch in fetches { fetch.cancel() }
        }
    }

    @Test(
        "large fetches do not starve small ones, and what one does not use the others have (ASI-THR-07)",
        arguments: [1, 4])
    func fair(workers: Int) async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: workers) { configuration in
            configuration.bandwidth = BandwidthLimit(1_000_000).with(burst: .seconds(1))
        } _: { coordinator in
            // One that its server sends slowly, and two that take what they get, for minutes.
            let idle = coordinator.start(Request(bed.origin.url("/bytes/1000000?rate=10000")), into: .discard)
            func start(_ count: Int) -> [Fetch] {
                (0..<2).map { coordinator.start(Request(bed.origin.url("/bytes/\(count)?seed=\($0)")), into: .discard) }
            }
            let large = start(100_000_000)
            for number in 0..<12 {
                let url = bed.origin.url("/bytes/4096?seed=\(number)")
                try await expectAnswer(from: url, on: coordinator, within: .seconds(60))
            }
            #expect(large.allSatisfy { !$0.currentProgress.isComplete })
            for fetch in large { fetch.cancel() }
            let begin = clock.now
            for fetch in start(1_250_000) { _ = try await fetch.response }
            let elapsed = clock.now - begin
            // Two megabytes and a half, beside one whose turns would take minutes.
            #expect(elapsed > .seconds(1.3))
            #expect(elapsed < .seconds(60))
            idle.cancel()
        }
    }

    /// A small body for any target; that of `/slow` and beneath has more to come when the occasion has.
    private func slowOrigin(until end: Occasion) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            var answer = ScriptedOrigin.Answer(200, "small")
            if request.target.hasPrefix("/slow") { answer.rest = (Array("rest".utf8), after: end) }
            return answer
        }
    }

    /// Fetches from a slow origin, all of them under way.
    private func slowFetches(
        _ count: Int, from origin: ScriptedOrigin, on coordinator: Coordinator
    ) async throws -> [Fetch] {
        let fetches = (0..<count).map { coordinator.start(Request(origin.url("/slow/\($0)")), into: .discard) }
        let areUnderWay = await eventually { origin.seen().count == count }
        try #require(areUnderWay)
        return fetches
    }

    /// A small body comes, whatever else is under way.
    private func expectAnswer(
        from url: String, on coordinator: Coordinator, share: String? = nil, within limit: Duration = .seconds(20)
    ) async throws {
        var request = Request(url)
        request.options.bandwidthShare = share
        request.options.timeLimits.resource = limit
        let response = try await coordinator.send(request, into: .discard)
        #expect(response.status == 200)
    }

    @Test("transfers that a server sends nothing leave their places under the limit to others")
    func silent() async throws {
        let end = Occasion()
        let origin = try slowOrigin(until: end)
        defer {
            end.open()
            origin.stop()
        }
        try await withTestCoordinator(workers: 1) { configuration in
            configuration.bandwidth = .mobile
            configuration.connectionsPerHost = 0
        } _: { coordinator in
            // As many as have a place.
            let slow = try await slowFetches(3, from: origin, on: coordinator)
            for number in 0..<5 { try await expectAnswer(from: origin.url("/\(number)"), on: coordinator) }
            for fetch in slow { fetch.cancel() }
        }
    }

    @Test("with a limit for each host all hosts have transfers under way", arguments: [1, 2])
    func hostsAtOnce(workers: Int) async throws {
        let count = 8
        let asked = Locked(Set<Int>())
        let all = Occasion()
        var origins: [ScriptedOrigin] = []
        defer { for origin in origins { origin.stop() } }
        for number in 0..<count {
            origins.append(
                try ScriptedOrigin { _ in
                    let isLast = asked.withLock { asked in
                        asked.insert(number)
                        return asked.count == count
                    }
                    if isLast { all.open() }
                    all.wait()
                    return ScriptedOrigin.Answer(200, "small")
                })
        }
        let urls = origins.map { $0.url() }
        try await withTestCoordinator(workers: workers) { configuration in
            configuration.bandwidthPerHost = .mobile
        } _: { coordinator in
            try await withThrowingTaskGroup { group in
                for url in urls {
                    group.addTask { try await expectAnswer(from: url, on: coordinator) }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("fetches of a group with a limit start beside any number that are under none")
    func besideUnlimited() async throws {
        let end = Occasion()
        let origin = try slowOrigin(until: end)
        defer {
            end.open()
            origin.stop()
        }
        try await withTestCoordinator(workers: 1) { configuration in
            configuration.connectionsPerHost = 0
        } _: { coordinator in
            try coordinator.setBandwidthLimit(BandwidthLimit(10_000), ofShare: "slow")
            let others = try await slowFetches(4, from: origin, on: coordinator)
            try await expectAnswer(from: origin.url(), on: coordinator, share: "slow")
            for fetch in others { fetch.cancel() }
        }
    }

    @Test("fetches that wait for bandwidth leave leases to those under no limit")
    func leases() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 1) { configuration in
            configuration.transfersPerWorker = 16
            configuration.connectionsPerHost = 0
            configuration.bandwidth = BandwidthLimit(4096)
        } _: { coordinator in
            let limited = (0..<40).map {
                coordinator.start(Request(bed.origin.url("/bytes/1000000?seed=\($0)")), into: .discard)
            }
            var request = Request(bed.origin.url("/bytes/1000"))
            request.options.isExemptFromBandwidthLimits = true
            request.options.timeLimits.resource = .seconds(20)
            let response = try await coordinator.send(request, into: .discard)
            #expect(response.status == 200)
            // Those that wait for a lease, too.
            for fetch in limited { fetch.cancel() }
            for fetch in limited { await failure(.cancelled) { try await fetch.response } }
            coordinator.setBandwidthLimit(.none)
            let next = try await coordinator.send(Request(bed.origin.url("/bytes/2000")), into: .discard)
            #expect(next.receivedLength == 2000)
        }
    }

    @Test("what a suspended fetch does not take the others have", arguments: [1, 4])
    func suspended(workers: Int) async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: workers) { configuration in
            configuration.bandwidth = BandwidthLimit(1_000_000).with(burst: .seconds(1))
        } _: { coordinator in
            let others = (0..<8).map {
                coordinator.start(Request(bed.origin.url("/bytes/90000000?seed=\($0)")), into: .discard)
            }
            let fetch = coordinator.start(Request(bed.origin.url("/bytes/3000000")), into: .discard)
            let areRunning = await eventually(within: .seconds(60)) {
                (others + [fetch]).allSatisfy { $0.currentProgress.download.completed > 20_000 }
            }
            try #require(areRunning)
            func received() -> Int64 { others.reduce(0) { $0 + $1.currentProgress.download.completed } }
            for other in others { other.suspend() }
            let begin = clock.now
            let before = received()
            let left = 3_000_000 - fetch.currentProgress.download.completed
            _ = try await fetch.response
            // Beside eight that take or keep their parts it would be nine times as long, and they would take 20 MB.
            let bound = Duration.microseconds(left) * 4 + Duration.seconds(5)
            #expect(clock.now - begin < bound, "\(left) bytes")
            #expect(received() - before < 3_000_000)
            let rested = others[0].currentProgress.download.completed
            others[0].resume()
            let goesOn = await eventually(within: .seconds(60)) {
                others[0].currentProgress.download.completed > rested + 500_000
            }
            #expect(goesOn)
            for other in others { other.cancel() }
        }
    }

    @Test("a limit that comes late holds for the rest, also on a connection that was used before")
    func late() async throws {
        try await withTestCoordinator(workers: 1) { coordinator in
            var (isLimited, seconds, rest) = (false, 0.0, 0.0)
            // What comes until a busy machine has taken note of the limit is under none: one good try is enough.
            for _ in 0..<4 {
                (seconds, rest) = try await timeUnderLateLimit(on: coordinator)
                // What its connection had taken by then is free: a megabyte or three. What it carried is not owed.
                isLimited = seconds > (rest - 3_000_000) / 1_000_000 && seconds < rest / 1_000_000 + 12
                if isLimited { break }
            }
            #expect(isLimited, "\(seconds) s for \(rest) bytes")
        }
    }

    /// A limit of a megabyte a second comes while a body comes, on a connection that has carried 15 MB.
    ///
    /// - Returns: How long the fetch took from then on, and for how many bytes.
    private func timeUnderLateLimit(on coordinator: Coordinator) async throws -> (seconds: Double, rest: Double) {
        let bed = try Bed.current
        coordinator.setBandwidthLimit(.none)
        for _ in 0..<5 { _ = try await coordinator.send(Request(bed.origin.url("/bytes/3000000")), into: .discard) }
        let fetch = coordinator.start(Request(bed.origin.url("/bytes/6000000?rate=3000000")), into: .discard)
        var limitedAt: ContinuousClock.Instant?
        var rest = 0.0
        for await event in fetch.events {
            guard case .progress(let progress) = event, limitedAt == nil, progress.received > 500_000 else { continue }
            coordinator.setBandwidthLimit(BandwidthLimit(1_000_000))
            limitedAt = clock.now
            // More than that may have come: events wait for who reads them.
            rest = Double(6_000_000 - fetch.currentProgress.download.completed)
        }
        let response = try await fetch.response
        #expect(response.receivedLength == 6_000_000)
        let begin = try #require(limitedAt)
        return ((clock.now - begin) / .seconds(1), rest)
    }

    @Test("an exempt request does not wait and is not counted")
    func exempt() async throws {
        let elapsed = try await time(8, of: "/bytes/1000000?seed=#", workers: 2, limit: .mobile) {
            $0.options.isExemptFromBandwidthLimits = true
        }
        #expect(elapsed < .seconds(30))
    }

    @Test("a server may announce whatever length it likes")
    func announced() async throws {
        let origin = try ScriptedOrigin { _ in
            var answer = ScriptedOrigin.Answer(200, "part")
            answer.announced = .max
            return answer
        }
        defer { origin.stop() }
        try await withTestCoordinator(workers: 1) { configuration in
            configuration.bandwidth = BandwidthLimit(1 << 20)
        } _: { coordinator in
            // The second is charged by the length of the first.
            for _ in 0..<2 {
                await failure(.truncated) { try await coordinator.send(Request(origin.url()), into: .discard) }
            }
        }
    }

    @Test("waiting for bandwidth is no inactivity (ASI-THR-03)", arguments: Engine.allCases)
    func clocks(engine: Engine) async throws {
        // Steps of a kilobyte or two: until it is its turn again each waits for the others for two seconds or more.
        let limit = BandwidthLimit(2000)
        let elapsed = try await time(3, of: "/bytes/2800?seed=#", workers: engine.workers, limit: limit) {
            $0.options.timeLimits.inactivity = .milliseconds(1500)
        }
        #expect(elapsed > .seconds(3))
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
