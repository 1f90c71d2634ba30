import Testing
import Trawl
@Suite struct ZZProbeTests {
    @Test func host() async throws {
        try await withFaultyWorkers(["never", "--on", "/bad"]) { $0.connectionsPerHost = 1 } _: { coordinator in
            let bad = await follow(coordinator, fakeRequest("/bad", seconds: 1))
            #expect(bad.code == .timeout)
            let good = fakeRequest("/good", seconds: 8)
            expectAnswered(await follow(coordinator, good), good)
        }
    }
    @Test func capacity() async throws {
        try await withFaultyWorkers(["never", "--on", "/bad"]) { $0.connectionsPerHost = 0; $0.transfersPerWorker = 2 } _: { coordinator in
            let bad = await follow(coordinator, fakeRequest("/bad", seconds: 1))
            let bad2 = await follow(coordinator, fakeRequest("/bad", seconds: 1))
            #expect(bad.code == .timeout && bad2.code == .timeout)
            let good = fakeRequest("/good", seconds: 8)
            expectAnswered(await follow(coordinator, good), good)
        }
    }
}
