import Testing
import TrawlHTTP
import TrawlProtocol

@Suite("Connections a worker counts for an origin, POOL-11", .serialized)
struct CountedConnectionTests {
    private static let origin = CountedOrigin(number: 7, most: 1)

    private func fetch(
        _ worker: TestCoordinator, _ target: String = "/bytes/10",
        counted: CountedOrigin? = CountedConnectionTests.origin,
        _ adjust: (inout Lease) -> Void = { _ in }
    ) throws -> LeaseEnd {
        try worker.fetch(target) {
            $0.counted = counted
            adjust(&$0)
        }.end
    }

    /// What the worker says next about connections.
    private func told(_ worker: TestCoordinator) throws -> Told? {
        while let (message, _) = try worker.next() {
            if case .connections(let origin, let open) = message { return Told(origin: origin, open: open) }
        }
        return nil
    }

    private struct Told: Equatable {
        var origin: UInt32
        var open: UInt16
    }

    @Test("an end says how many are open, idle or not")
    func ends() throws {
        let worker = try TestCoordinator()
        #expect(try fetch(worker).connections == 1)
        #expect(try fetch(worker).metrics.connection == 1)
        #expect(try fetch(worker, "/response-headers?Connection=close").connections == 0)
        #expect(try fetch(worker, counted: nil).connections == 0, "nobody counts")
    }

    @Test("a connection that does not suit makes room for another one")
    func room() throws {
        let worker = try TestCoordinator()
        let first = try fetch(worker)
        let second = try fetch(worker) { $0.options.remove(.mayReuseConnection) }
        #expect(first.metrics.connection != second.metrics.connection)
        #expect(second.connections == 1)
        let wide = CountedOrigin(number: 7, most: 2)
        let third = try fetch(worker, counted: wide) { $0.options.remove(.mayReuseConnection) }
        #expect(third.connections == 2, "there is room for two")
        let fourth = try fetch(worker, counted: wide) { $0.options.remove(.mayReuseConnection) }
        #expect(fourth.connections == 2)
        #expect(
            try fetch(worker, counted: CountedOrigin(number: 8, most: 1)) { $0.options.remove(.mayReuseConnection) }
                .connections
                == 1)
        #expect(try fetch(worker, counted: wide).connections == 2, "another origin's is another's")
    }

    @Test("idle connections are closed when that is asked for, and it is answered in any case")
    func release() throws {
        let worker = try TestCoordinator()
        let first = try fetch(worker)
        worker.send(.release(origin: 7, count: 3))
        #expect(try told(worker) == Told(origin: 7, open: 0))
        worker.send(.release(origin: 7, count: 1))
        #expect(try told(worker) == Told(origin: 7, open: 0))
        let second = try fetch(worker)
        #expect(second.connections == 1 && second.metrics.connection != first.metrics.connection)
        #expect(!second.metrics.reusedConnection)
        worker.send(.release(origin: 99, count: 1))
        #expect(try told(worker) == Told(origin: 99, open: 0))
    }

    @Test("a connection that the server closes, or whose time is over, is told without being asked")
    func stale() throws {
        let worker = try TestCoordinator()
        #expect(try fetch(worker, "/close-idle?ms=50").connections == 1)
        #expect(try told(worker) == Told(origin: 7, open: 0))
        var profile = TransferProfile()
        profile.idleLifetime = 0
        worker.send(.profile(number: 1, profile))
        #expect(try fetch(worker).connections == 1)
        #expect(try told(worker) == Told(origin: 7, open: 0))
    }

    @Test("the time that the server names takes the place of the profile's (ASI-CONN-02)")
    func longerServerTimeout() throws {
        let worker = try TestCoordinator()
        var profile = TransferProfile()
        profile.idleLifetime = 0
        worker.send(.profile(number: 1, profile))
        let first = try fetch(worker, "/keepalive?timeout=60")
        #expect(first.connections == 1)
        // Ours is over after a second, and four times a second the worker looks.
        #expect(!worker.hasMessage(milliseconds: 1500), "it is closed")
        #expect(try fetch(worker).metrics.connection == first.metrics.connection)
        #expect(try told(worker) == Told(origin: 7, open: 0), "the second response names no time")
    }

    @Test("one that was opened when nobody counted counts from its next request on")
    func adopted() throws {
        let worker = try TestCoordinator()
        let first = try fetch(worker, counted: nil)
        let second = try fetch(worker)
        #expect(first.metrics.connection == second.metrics.connection && second.connections == 1)
    }
}
