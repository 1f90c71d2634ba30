import Foundation
import Glibc
import TestSupport
import Testing
import Trawl

/// What origins see of the limit for each host as connections, those that carry nothing included, over all workers.
///
/// An origin counts when it accepts one; of the others to that address those do not count that the peer has closed, as
/// the system knows it. What the origin's own threads have read so far says less: a close may wait there for its turn.
@Suite("Connections to a host over all workers, POOL-11, ASI-CONN-06", .serialized, .timeLimit(.minutes(10)))
struct HostConnectionTests {
    private static let hosts = 6

    /// Targets after which connections are kept, closed by us, closed by the server at once or after a while.
    private static func target(_ number: Int) -> String {
        switch number % 12 {
        case 0: "/response-headers?Connection=close&n=\(number)"
        case 1: "/close-idle?ms=20&n=\(number)"
        case 2: "/bytes/200000?n=\(number)"
        default: "/delay/\(number % 7 * 4)?n=\(number)"
        }
    }

    private static func request(_ number: Int, _ origin: LoopbackOriginProcess) -> Request {
        var request = Request(origin.url(target(number), address: 2 + number % hosts))
        if number % 17 == 0 { request.options.reusesConnection = false }
        if number % 19 == 0 { request.options.keepsConnection = false }
        return request
    }

    /// Fetches so many, a few at a time, and now and then all at once.
    private static func fetchAll(_ count: Int, _ origin: LoopbackOriginProcess, _ coordinator: Coordinator) async {
        for width in [3, 8, 40] {
            await withTaskGroup { group in
                for lane in 0..<width {
                    group.addTask {
                        for number in stride(from: lane, to: count / 3, by: width) {
                            do throws(FetchError) {
                                let status = try await coordinator.send(request(number, origin)).status
                                #expect(status == 200)
                            } catch {
                                Issue.record("\(number): \(error)")
                            }
                        }
                    }
                }
            }
        }
    }

    private static func expect(_ limit: Int, _ origin: LoopbackOriginProcess) throws {
        // The question itself is a connection to the first address.
        let maxima = try origin.establishedMaxima().filter { $0.key != "127.0.0.1" }
        #expect(maxima.count == hosts && maxima.values.allSatisfy { $0 <= limit }, "\(maxima)")
    }

    @Test("eight workers never have more connections to a host than its limit, however they end", arguments: [1, 3])
    func steady(limit: Int) async throws {
        try await withOrigin(addresses: 1 + Self.hosts) { origin in
            try await withTestCoordinator(workers: 8) {
                $0.connectionsPerHost = limit
            } _: { coordinator in
                await Self.fetchAll(runsLongTests ? 6000 : 900, origin, coordinator)
                try Self.expect(limit, origin)
                // Nothing runs now, and what is idle counts too. The question is a connection of its own, and what we have closed
                // counts until the origin has read it.
                #expect(await eventually { ((try? origin.connections().open) ?? .max) - 1 <= limit * Self.hosts })
            }
            let atOnce = try origin.concurrency().max
            #expect(limit == 1 || atOnce > limit, "several hosts were busy at once")
        }
    }

    @Test("nor when workers die")
    func deaths() async {
        await #expect(processExitsWith: .success) { try await Self.deaths(kills: runsLongTests ? 120 : 12) }
    }

    private static func deaths(kills: Int) async throws {
        let origin = try LoopbackOriginProcess(addresses: 1 + hosts)
        defer { origin.stop() }
        let spared = Set(ProcessTree.children())
        let killed = Locked(0)
        try await withTestCoordinator(workers: 8) {
            $0.connectionsPerHost = 3
        } _: { coordinator in
            await withTaskGroup { group in
                group.addTask {
                    var random = SeededGenerator(seed: 7)
                    while killed.withLock({ $0 }) < kills {
                        let victims = ProcessTree.children().filter { !spared.contains($0) }.sorted()
                        if let victim = victims.randomElement(using: &random), kill(victim, SIGKILL) == 0 {
                            killed.withLock { $0 += 1 }
                        }
                        try? await Task.sleep(for: .milliseconds(80))
                    }
                }
                group.addTask {
                    while killed.withLock({ $0 }) < kills { await fetchAll(300, origin, coordinator) }
                }
            }
        }
        try expect(3, origin)
        #expect(killed.withLock { $0 } >= kills)
    }

    @Test(
        "a worker that is alone, in this process too, has no more than the limit for requests that share no connection")
    func alone() async throws {
        for workers in [0, 1] {
            try await withOrigin(addresses: 1 + Self.hosts) { origin in
                try await withTestCoordinator(workers: workers) {
                    $0.connectionsPerHost = 2
                } _: { coordinator in
                    await Self.fetchAll(300, origin, coordinator)
                }
                try Self.expect(2, origin)
            }
        }
    }

    @Test("a worker that is alone says nothing of connections that close, which nobody else counts")
    func aloneInSilence() async throws {
        try await withOrigin(addresses: 9) { origin in
            try await withTestCoordinator(workers: 1) {
                $0.connectionsPerHost = 6
                $0.tolerance.strayFrames = 0
            } _: { coordinator in
                // What is not idempotent fails when its worker is ended.
                let slow = coordinator.start(Request(.post, origin.url("/delay/2000")))
                for address in 2...9 {
                    let url = origin.url("/close-idle?ms=300", address: address)
                    let status = try await coordinator.send(Request(url)).status
                    #expect(status == 200)
                }
                let status = try await slow.response.status
                #expect(status == 200)
            }
        }
    }

    @Test("tunnels through a proxy to places that requests name count for the host of the URL")
    func routedTunnels() async throws {
        let tunnels = Locked([String: Int]())
        let peer = try ScriptedPeer { connection, _ in
            guard let connect = connection.readHead() else { return }
            let place = String(decoding: connect.utf8.prefix { $0 != 0x0D }, as: UTF8.self)
            tunnels.withLock { $0[place, default: 0] += 1 }
            defer { tunnels.withLock { $0[place, default: 0] -= 1 } }
            connection.send("HTTP/1.1 200 Tunnel\r\n\r\n")
            while connection.readHead() != nil {
                connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        defer { peer.stop() }
        let proxy = ProxyPolicy(try Proxy(peer.place))
        try await withTestCoordinator(workers: 3) {
            $0.connectionsPerHost = 2
        } _: { coordinator in
            await withTaskGroup { group in
                for lane in 0..<10 {
                    group.addTask {
                        for number in stride(from: lane, to: 600, by: 10) {
                            let host = "h\(number % 12).test"
                            var request = Request("http://\(host)/\(number)")
                            request.options.proxy = proxy
                            request.options.transport.connectTo = ["\(host):80:\(host):81"]
                            let status = try? await coordinator.send(request).status
                            #expect(status == 200, "\(number)")
                        }
                    }
                }
            }
            // They are idle now, and stay open; what we have closed is open until the proxy has read that.
            let isWithin = await eventually { tunnels.withLock { $0.count == 12 && $0.values.allSatisfy { $0 <= 2 } } }
            #expect(isWithin, "\(tunnels.withLock { $0 })")
        }
    }

    @Test("a limit that is lowered closes idle connections")
    func lowered() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 4) {
                $0.connectionsPerHost = 8
            } _: { coordinator in
                await HostLimitTests.fetchAll((0..<8).map { origin.url("/delay/100?\($0)") }, coordinator)
                let before = try origin.connections().open
                #expect(before > 2 + 1)
                try coordinator.setHostRules(HostRules(connections: 2), of: origin.url("/"))
                let isLess = await eventually { ((try? origin.connections().open) ?? 9) <= 2 + 1 }
                #expect(isLess)
                await HostLimitTests.fetchAll((0..<8).map { origin.url("/delay/10?\($0)") }, coordinator)
                #expect(await eventually { ((try? origin.connections().open) ?? 9) <= 2 + 1 })
            }
        }
    }

    @Test(
        "idle connections are closed when their time is over, though nothing else happens, and counted or not",
        arguments: [4, 0])
    func idle(limit: Int) async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 2) {
                $0.connectionsPerHost = limit
            } _: { coordinator in
                var request = Request(origin.url("/bytes/10"))
                request.options.transport.idleLifetime = .zero
                _ = try await coordinator.send(request)
                let isClosed = await eventually { (try? origin.connections().open) == 1 }
                #expect(isClosed)
            }
        }
    }
}
