import Foundation
import Glibc
import TestSupport
import Testing
import Trawl

/// What origins see of the limits for each host, over all workers.
@Suite("What hosts are spared, at the server, POOL-11", .serialized, .timeLimit(.minutes(10)))
struct HostLimitTests {
    private static let workers = runsLongTests ? 8 : 4

    @Test("no host ever has more requests at once than allowed, and all hosts have some")
    func connections() async throws {
        let (hosts, each) = (6, runsLongTests ? 400 : 25)
        try await withOrigin(addresses: hosts) { origin in
            try await withTestCoordinator(workers: Self.workers) {
                $0.connectionsPerHost = 3
            } _: { coordinator in
                await Self.fetchAll(
                    (0..<each * hosts).map { origin.url("/delay/10?\($0)", address: 1 + $0 % hosts) }, coordinator)
            }
            let maxima = try origin.hostMaxima()
            #expect(maxima.count == hosts && maxima.values.allSatisfy { $0 <= 3 }, "\(maxima)")
            let all = try origin.concurrency()
            #expect(all.total == each * hosts && all.max > 3, "\(all)")
        }
    }

    @Test("no two requests to a host are closer together than the delay, and hosts do not wait for each other")
    func delay() async throws {
        let (hosts, each) = (5, runsLongTests ? 100 : 6)
        try await withOrigin(addresses: hosts) { origin in
            try await withTestCoordinator(workers: Self.workers) {
                $0.politeness.delay = HostDelay(.milliseconds(120), random: .milliseconds(30))
            } _: { coordinator in
                await Self.fetchAll(
                    (0..<each * hosts).map { origin.url("/bytes/9?\($0)", address: 1 + $0 % hosts) }, coordinator)
            }
            let log = try origin.log(prefix: "/bytes")
            #expect(log.count == hosts * each)
            #expect(Self.shortestGap(in: log) >= 120)
            // One host after the other would make one change for each host but the first.
            let order = log.sorted { $0.ms < $1.ms }.map { $0.host ?? "" }
            let changes = zip(order, order.dropFirst()).count { $0 != $1 }
            #expect(changes >= 2 * hosts, "\(order)")
        }
    }

    @Test("a request whose kept connection was lost goes out once more after the delay", arguments: ["", "&reset=1"])
    func repetition(query: String) async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) {
                $0.politeness.delay = HostDelay(.milliseconds(150))
            } _: { coordinator in
                await Self.fetchAll((0..<4).map { origin.url("/close-after-request?n=\($0)\(query)") }, coordinator)
            }
            let log = try origin.log(prefix: "/close-after-request")
            // The first is answered; of each other one the first request is lost.
            #expect(log.count == 7 && Set(log.map(\.target)).count == 4, "\(log)")
            #expect(Self.shortestGap(in: log) >= 150)
        }
    }

    @Test("workers that die do not shorten the delay")
    func deaths() async {
        await #expect(processExitsWith: .success) { try await Self.deaths(kills: runsLongTests ? 100 : 8) }
    }

    private static func deaths(kills: Int) async throws {
        let (hosts, each) = (4, runsLongTests ? kills : 5)
        let origin = try LoopbackOriginProcess(addresses: hosts)
        defer { origin.stop() }
        let spared = Set(ProcessTree.children())
        let isOver = Locked(false)
        let killed = Locked(0)
        try await withTestCoordinator(workers: workers) {
            $0.politeness.delay = HostDelay(.milliseconds(500))
        } _: { coordinator in
            await withTaskGroup { group in
                group.addTask {
                    var random = SeededGenerator(seed: 7)
                    while !isOver.withLock({ $0 }), killed.withLock({ $0 }) < kills {
                        try? await Task.sleep(for: .milliseconds(200))
                        let victims = ProcessTree.children().filter { !spared.contains($0) }.sorted()
                        if let victim = victims.randomElement(using: &random), kill(victim, SIGKILL) == 0 {
                            killed.withLock { $0 += 1 }
                        }
                    }
                }
                // Each takes a while, so that workers die with requests in hand.
                await fetchAll(
                    (0..<each * hosts).map { origin.url("/delay/250?\($0)", address: 1 + $0 % hosts) }, coordinator)
                isOver.withLock { $0 = true }
            }
        }
        let log = try origin.log(prefix: "/delay")
        let deaths = killed.withLock { $0 }
        #expect(log.count >= hosts * each && deaths > 3, "\(log.count) requests, \(deaths) deaths")
        // What a worker sent just before its death, the server may read later, when it has its turn.
        #expect(shortestGap(in: log) >= 250)
    }

    @Test("a host may have rules of its own, from one moment to the next")
    func ownRules() async throws {
        try await withOrigin(addresses: 2) { origin in
            try await withTestCoordinator { coordinator in
                try coordinator.setHostRules(HostRules(connections: 1), of: origin.url("/", address: 1))
                let urls = (0..<24).map { origin.url("/delay/20?\($0)", address: 1 + $0 % 2) }
                await Self.fetchAll(urls, coordinator)
                let maxima = try origin.hostMaxima()
                #expect(maxima["127.0.0.1:\(origin.port)"] == 1)
                #expect((maxima["127.0.0.2:\(origin.port)"] ?? 0) > 1)
                try coordinator.setHostRules(
                    HostRules(delay: HostDelay(.milliseconds(100))), of: origin.url("/x", address: 2))
                await Self.fetchAll((0..<4).map { origin.url("/bytes/1?\($0)", address: 2) }, coordinator)
                let log = try origin.log(prefix: "/bytes/1")
                #expect(log.count == 4 && Self.shortestGap(in: log) >= 100)
                try coordinator.setHostRules(nil, of: origin.url("/", address: 1))
                await Self.fetchAll((0..<12).map { origin.url("/delay/30?n=\($0)", address: 1) }, coordinator)
                let after = try origin.hostMaxima()
                #expect((after["127.0.0.1:\(origin.port)"] ?? 0) > 1)
                #expect(throws: FetchError.self) {
                    try coordinator.setHostRules(HostRules(connections: -1), of: urls[0])
                }
                #expect(throws: FetchError.self) { try coordinator.setHostRules(HostRules(), of: "no URL") }
            }
        }
    }

    @Test("a slow host does not keep others waiting, although most requests are for it")
    func fairness() async throws {
        let isOver = Occasion()
        let slow = try ScriptedOrigin { _ in
            isOver.wait()
            return .init(200, "slow")
        }
        let fast = try ScriptedOrigin { _ in .init(200, "fast") }
        defer {
            isOver.open()
            slow.stop()
            fast.stop()
        }
        try await withTestCoordinator(workers: 1) {
            $0.connectionsPerHost = 2
            $0.transfersPerWorker = 4
        } _: { coordinator in
            await withTaskGroup { group in
                group.addTask { await Self.fetchAll((0..<40).map { slow.url("/\($0)") }, coordinator) }
                let isBusy = await eventually {
                    let waiting = await coordinator.status()?.waiting
                    return slow.seen().count == 2 && waiting == 38
                }
                #expect(isBusy)
                await Self.fetchAll((0..<40).map { fast.url("/\($0)") }, coordinator)
                // No slow one was answered meanwhile.
                #expect(slow.seen().count == 2 && fast.seen().count == 40)
                isOver.open()
            }
        }
        #expect(slow.seen().count == 40)
    }

    /// Fetches all at once.
    static func fetchAll(_ urls: [String], _ coordinator: Coordinator) async {
        await withTaskGroup { group in
            for url in urls {
                group.addTask {
                    do throws(FetchError) {
                        let status = try await coordinator.send(Request(url)).status
                        #expect(status == 200, "\(url)")
                    } catch {
                        Issue.record("\(url): \(error)")
                    }
                }
            }
        }
    }

    /// The shortest time between two requests to one host, in milliseconds.
    static func shortestGap(in log: [LoopbackOriginProcess.LogEntry]) -> Double {
        var shortest = Double.infinity
        for entries in Dictionary(grouping: log, by: { $0.host ?? "" }).values {
            let times = entries.map(\.ms).sorted()
            for (earlier, later) in zip(times, times.dropFirst()) { shortest = min(shortest, later - earlier) }
        }
        return shortest
    }
}
