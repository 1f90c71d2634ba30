import TestSupport
import Testing
import Trawl

@Suite("Hosts at one address are spared together", .serialized, .timeLimit(.minutes(2)))
struct HostAddressKeyTests {
    /// Twenty names with an address of their requests', one that is found out, and the address itself.
    private static let names = (0..<20).map { "h\($0).test" } + ["localhost", "127.0.0.1"]

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

    @Test("the limit of requests in flight is one for all names of an address, from the first request on")
    func limit() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 2) {
                $0.connectionsPerHost = 2
                $0.politeness.key = .address
            } _: { coordinator in
                await fetch((0..<66).map { "/delay/20?\($0)" }, of: Self.names, at: origin, coordinator)
                // The question is one.
                let maxima = try origin.establishedMaxima()
                #expect(maxima.values.allSatisfy { $0 <= 2 + 1 }, "idle connections of all names: \(maxima)")
            }
            let all = try origin.concurrency()
            #expect(all.total == 66 && all.max == 2, "\(all)")
        }
    }

    @Test("so is the delay, from the first request on")
    func delay() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 2) {
                $0.connectionsPerHost = 2
                $0.politeness.key = .address
                $0.politeness.delay = HostDelay(.milliseconds(100))
            } _: { coordinator in
                await fetch(
                    Self.names.indices.map { "/bytes/9?\($0)" }, of: Self.names, at: origin, coordinator)
            }
            let log = try origin.log(prefix: "/bytes/9").map(\.ms).sorted()
            try #require(log.count == Self.names.count)
            for (earlier, later) in zip(log, log.dropFirst()) { #expect(later - earlier >= 100) }
        }
    }

    @Test("what one name asks for by Retry-After holds for the others")
    func retryAfter() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator {
                $0.politeness.key = .address
            } _: { coordinator in
                let url = "http://localhost:\(origin.port)/status/503?field=Retry-After:%201"
                let refused = try await coordinator.send(Request(url))
                #expect(refused.status == 503)
                await fetch(["/bytes/9"], of: ["h0.test"], at: origin, coordinator)
            }
            let asked = try origin.log(prefix: "/status/503").map(\.ms)
            let other = try origin.log(prefix: "/bytes/9").map(\.ms)
            try #require(asked.count == 1 && other.count == 1)
            #expect(other[0] - asked[0] >= 1000)
        }
    }

    @Test("where connections go counts, and not the name", arguments: ["connectTo", "resolve"])
    func routes(option: String) async throws {
        try await withOrigin(addresses: 2) { origin in
            try await withTestCoordinator(workers: 1) {
                $0.politeness.key = .address
                $0.connectionsPerHost = 1
            } _: { coordinator in
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<4 {
                        var request = Request("http://a.test:\(origin.port)/delay/300?\(index)")
                        // One name at two addresses.
                        let address = "127.0.0.\(1 + index % 2)"
                        if option == "resolve" {
                            request.options.transport.resolve = ["a.test:\(origin.port):\(address)"]
                        } else {
                            request.options.transport.connectTo = ["a.test:\(origin.port):\(address):\(origin.port)"]
                        }
                        group.addTask { [request] in
                            let response = try? await coordinator.send(request)
                            #expect(response?.status == 200)
                        }
                    }
                }
            }
            let all = try origin.concurrency()
            #expect(all.total == 4 && all.max == 2, "\(all)")
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
