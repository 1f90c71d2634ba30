import TestSupport
import Testing
import Trawl

@Suite("Hosts at one address are spared together", .serialized, .timeLimit(.minutes(2)))
struct HostAddressKeyTests {
    private static let names = ["a.test", "b.test", "c.test", "d.test"]

    /// Fetches targets of several hosts at one address, all at once.
    private func fetch(
        _ targets: [String], of names: [String], at origin: LoopbackOriginProcess, _ coordinator: Coordinator
    ) async {
        let port = origin.port
        await withTaskGroup(of: Void.self) { group in
            for (index, target) in targets.enumerated() {
                let name = names[index % names.count]
                var request = Request("http://\(name):\(port)\(target)")
                if name.hasSuffix(".test") { request.options.transport.resolve = ["\(name):\(port):127.0.0.1"] }
                group.addTask { [request] in
                    do throws(FetchError) {
                        let status = try await coordinator.send(request).status
                        #expect(status == 200)
                    } catch {
                        Issue.record("\(request.url): \(error)")
                    }
                }
            }
        }
    }

    @Test("the limit of requests in flight is one for all names of an address, once it is known")
    func limit() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 2) {
                $0.connectionsPerHost = 2
                $0.politeness.key = .address
            } _: { coordinator in
                // What waits for the first answer goes over to the queue of the address with it.
                for name in Self.names {
                    await fetch((0..<3).map { "/delay/20?\(name)\($0)" }, of: [name], at: origin, coordinator)
                }
                let first = try origin.concurrency()
                #expect(first.total == 12 && first.max <= 2, "\(first)")
                // A name that is not known yet may have a connection beside those of its address.
                await fetch(["/reset-counts"], of: ["127.0.0.1"], at: origin, coordinator)
                await fetch((0..<40).map { "/delay/20?\($0)" }, of: Self.names, at: origin, coordinator)
                await fetch((0..<4).map { "/delay/20?n\($0)" }, of: ["127.0.0.1"], at: origin, coordinator)
                // The question is one.
                let maxima = try origin.establishedMaxima()
                #expect(maxima.values.allSatisfy { $0 <= 2 + 1 }, "idle connections of all names: \(maxima)")
            }
            let all = try origin.concurrency()
            #expect(all.total == 44 && all.max <= 2, "\(all)")
        }
    }

    @Test("before the first answer one request to each name is in flight")
    func unknown() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 2) {
                $0.politeness.key = .address
            } _: { coordinator in
                await fetch((0..<8).map { "/delay/300?\($0)" }, of: ["a.test", "b.test"], at: origin, coordinator)
            }
            let log = try origin.log(prefix: "/delay").map(\.ms).sorted()
            try #require(log.count == 8)
            #expect(log[2] - log[1] > 200, "\(log)")
        }
    }

    @Test("so is the delay, and what one of them asks for by Retry-After")
    func delay() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 2) {
                $0.politeness.key = .address
                $0.politeness.delay = HostDelay(.milliseconds(120))
            } _: { coordinator in
                await fetch(["/bytes/9?first"], of: ["a.test"], at: origin, coordinator)
                await fetch(["/bytes/8?first"], of: ["b.test"], at: origin, coordinator)
                await fetch((0..<8).map { "/bytes/9?\($0)" }, of: ["a.test", "b.test"], at: origin, coordinator)
            }
            // From the first answer on: that of b.test alone was not known to be there.
            let log = try origin.log(prefix: "/bytes/9").map(\.ms).sorted()
            try #require(log.count == 9)
            for (earlier, later) in zip(log, log.dropFirst()) { #expect(later - earlier >= 120) }
        }
    }

    @Test("rules of a host's own are for an address")
    func rules() async throws {
        try await withTestCoordinator(workers: 0) {
            $0.politeness.key = .address
        } _: { coordinator in
            try coordinator.setHostRules(HostRules(connections: 1), of: "http://127.0.0.1/")
            let error = #expect(throws: FetchError.self) {
                try coordinator.setHostRules(HostRules(connections: 1), of: "http://a.test/")
            }
            #expect(error?.code == .badRequest)
        }
    }
}
