import Glibc
import Testing
import Trawl

/// Lower bounds of time hold on any machine: nothing may be faster than the limit. Upper ones are wide.
@Suite("Limits of bandwidth for groups and for each origin", .bed(), .serialized, .timeLimit(.minutes(10)))
struct BandwidthShareTests {
    private let clock = ContinuousClock()

    @Test("each origin has its own share of a limit for each")
    func perHost() async throws {
        let body = String(repeating: "x", count: 100_000)
        var origins: [ScriptedOrigin] = []
        defer { for origin in origins { origin.stop() } }
        for _ in 0..<20 { origins.append(try ScriptedOrigin { _ in ScriptedOrigin.Answer(200, body) }) }
        let urls = (0..<60).map { origins[$0 % origins.count].url("/\($0)") }
        try await withTestCoordinator(workers: 2) { configuration in
            configuration.bandwidthPerHost = BandwidthLimit(100_000).with(burst: .seconds(1))
        } _: { coordinator in
            let begin = clock.now
            try await withThrowingTaskGroup { group in
                for url in urls {
                    group.addTask {
                        let response = try await coordinator.send(Request(url), into: .discard)
                        #expect(response.receivedLength == 100_000)
                    }
                }
                try await group.waitForAll()
            }
            let elapsed = clock.now - begin
            // Three seconds for each, of which the first counts as idle, and a minute for all.
            #expect(elapsed > .seconds(1.8))
            #expect(elapsed < .seconds(40))
        }
    }

    @Test("a group of requests has a share of its own, within the limit of all")
    func share() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 2) { coordinator in
            coordinator.setBandwidthLimit(BandwidthLimit(4_000_000))
            try coordinator.setBandwidthLimit(BandwidthLimit(20_000), ofShare: "slow")
            #expect(coordinator.bandwidthLimit(ofShare: "slow") == BandwidthLimit(20_000))
            #expect(coordinator.bandwidthLimit(ofShare: "other") == .none)
            let begin = clock.now
            let (group, others) = try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for number in 0..<8 {
                    tasks.addTask {
                        let isOfGroup = number % 2 == 0
                        let length = isOfGroup ? 10_000 : 200_000
                        var request = Request(bed.origin.url("/bytes/\(length)?seed=\(number)"))
                        request.options.bandwidthShare = isOfGroup ? "slow" : "other"
                        _ = try await coordinator.send(request, into: .discard)
                        return isOfGroup
                    }
                }
                var ends = [Duration.zero, .zero]
                for try await isOfGroup in tasks { ends[isOfGroup ? 0 : 1] = clock.now - begin }
                return (ends[0], ends[1])
            }
            #expect(group > .seconds(1.7))
            // 40 seconds in the share of the group.
            #expect(others < .seconds(25))
            var negative = BandwidthLimit(1000)
            negative.burst = .seconds(-1)
            let error = #expect(throws: FetchError.self) {
                try coordinator.setBandwidthLimit(negative, ofShare: "negative")
            }
            #expect(error?.code == .badRequest)
            try coordinator.setBandwidthLimit(.none, ofShare: "slow")
            // Each of 64 has a number of its own, and one that was given up is used again.
            for number in 0..<64 {
                try coordinator.setBandwidthLimit(BandwidthLimit(1000), ofShare: "share \(number)")
            }
            #expect(throws: FetchError.self) {
                try coordinator.setBandwidthLimit(BandwidthLimit(1000), ofShare: "one too many")
            }
            try coordinator.setBandwidthLimit(.none, ofShare: "share 7")
            try coordinator.setBandwidthLimit(BandwidthLimit(1000), ofShare: "one more")
        }
    }

    @Test("a group may be under no limit at all")
    func exemptShare() async throws {
        let bed = try Bed.current
        try await withTestCoordinator(workers: 2) { coordinator in
            // A quarter of an hour for the one body, and for the group's own limit.
            coordinator.setBandwidthLimit(BandwidthLimit(1000))
            try coordinator.setBandwidthLimit(BandwidthLimit(1000), ofShare: "free")
            coordinator.setExemptFromBandwidthLimits(true, share: "free")
            let isExempt = coordinator.isExemptFromBandwidthLimits(share: "free")
            let isOther = coordinator.isExemptFromBandwidthLimits(share: "other")
            #expect(isExempt && !isOther)
            var request = Request(bed.origin.url("/bytes/1000000"))
            request.options.bandwidthShare = "free"
            request.options.timeLimits.resource = .seconds(60)
            let begin = clock.now
            let response = try await coordinator.send(request, into: .discard)
            #expect(response.status == 200)
            #expect(clock.now - begin < .seconds(30))
            coordinator.setExemptFromBandwidthLimits(false, share: "free")
            request.options.timeLimits.resource = .seconds(1)
            let limited = request
            let error = await #expect(throws: FetchError.self) { try await coordinator.send(limited, into: .discard) }
            #expect(error?.code == .timeout)
        }
    }
}
