import Testing

@testable import TrawlSupervision

extension LeaseTable {
    /// Connections to the origin that the workers may have, all together.
    func connections(to origin: OriginKey) -> Int { shares.row(of: origin).map { shares.total($0) } ?? 0 }
}

@Suite("Shares of an origin's connections, POOL-11")
struct ConnectionSharesTests {
    /// A table whose workers are ready, and what they hold.
    private struct Pool {
        var table: LeaseTable
        /// Leases of origin 1, by worker.
        var held: [[LeaseID]]
        private var lastHop: HopID = 0

        /// - Parameters:
        ///   - held: How many leases of origin 1 each worker holds.
        ///   - idle: How many idle connections to it each worker has beside.
        init(workers: Int = 3, leases: Int = 4, held: [Int] = [], idle: [Int] = []) {
            table = LeaseTable(workers: workers, leasesPerWorker: leases)
            self.held = [[LeaseID]](repeating: [], count: workers)
            for worker in 0..<workers { table.workerReady(worker) }
            for (worker, count) in held.enumerated() {
                for _ in 0..<count { self.held[worker].append(grant(to: worker)) }
            }
            for (worker, count) in idle.enumerated() {
                var ending: [LeaseID] = []
                for _ in 0..<count { ending.append(grant(to: worker)) }
                for id in ending { _ = table.ended(id, from: worker, connections: self.held[worker].count + count) }
            }
        }

        mutating func grant(of origin: OriginKey = 1, to worker: Int) -> LeaseID {
            lastHop += 1
            return table.grant(hop: lastHop, origin: origin, to: worker, isSuspect: false, isCounted: true).id
        }
    }

    @Test("without a limit, and with one worker, nothing is counted")
    func uncounted() {
        let pool = Pool()
        #expect(!pool.table.countsConnections(.max))
        #expect(pool.table.countsConnections(1))
        let alone = Pool(workers: 1)
        #expect(!alone.table.countsConnections(1))
    }

    @Test("a worker with an idle connection comes before one that would have to open another")
    func idleFirst() {
        for worker in 0..<3 {
            var idle = [0, 0, 0]
            idle[worker] = 1
            var pool = Pool(idle: idle)
            #expect(pool.table.connections(to: 1) == 1)
            #expect(pool.table.place(1, isSuspect: false, limit: 3) == .worker(worker, keepsConnection: true))
            #expect(pool.table.place(1, isSuspect: false, limit: 1) == .worker(worker, keepsConnection: true))
        }
    }

    @Test("a worker that is notably busier is passed over as long as another may open a connection")
    func busy() {
        var pool = Pool(leases: 8, idle: [1])
        for _ in 0..<4 { _ = pool.grant(of: 2, to: 0) }
        guard case .worker(let other, keepsConnection: true) = pool.table.place(1, isSuspect: false, limit: 2) else {
            Issue.record("nobody takes it")
            return
        }
        #expect(other != 0)
        // When none may, it goes there all the same, and the connection moves on.
        #expect(pool.table.place(1, isSuspect: false, limit: 1) == .worker(0, keepsConnection: false))
    }

    @Test("a worker that has an idle connection and takes no hops is asked to close it, once")
    func asked() {
        var pool = Pool(idle: [2])
        pool.table.workerDraining(0)
        #expect(pool.table.place(1, isSuspect: false, limit: 2) == .awaitsConnection(askedOf: 0))
        #expect(pool.table.place(1, isSuspect: false, limit: 2) == .awaitsConnection(askedOf: nil))
        #expect(pool.table.told(1, by: 0, open: 1) == true)
        #expect(pool.table.connections(to: 1) == 1)
        guard case .worker(let worker, keepsConnection: true) = pool.table.place(1, isSuspect: false, limit: 2) else {
            Issue.record("nobody takes it")
            return
        }
        #expect(worker != 0)
        let noNews = [
            pool.table.told(1, by: 0, open: 1), pool.table.told(7, by: 0, open: 1), pool.table.told(1, by: 99, open: 0),
        ]
        #expect(noNews == [false, false, false], "it said so before, or nobody counts that")
    }

    @Test("a suspect takes an idle worker with a share, and has another one's connection closed")
    func suspects() {
        var pool = Pool(held: [0, 1, 0], idle: [0, 0, 1])
        #expect(pool.table.place(1, isSuspect: true, limit: 2) == .worker(2, keepsConnection: true))
        var other = Pool(held: [0, 1, 0], idle: [0, 1, 0])
        #expect(other.table.place(1, isSuspect: true, limit: 2) == .awaitsConnection(askedOf: 1))
        #expect(other.table.told(1, by: 1, open: 1) == true)
        guard case .worker(let worker, keepsConnection: true) = other.table.place(1, isSuspect: true, limit: 2) else {
            Issue.record("nobody takes it")
            return
        }
        #expect(worker != 1)
    }

    @Test("a share shrinks to what is open, never below the leases, and grows by leases alone")
    func shrinking() {
        var pool = Pool(held: [3])
        #expect(pool.table.connections(to: 1) == 3)
        _ = pool.table.ended(pool.held[0][0], from: 0, connections: 1)
        #expect(pool.table.connections(to: 1) == 2, "two leases are there")
        _ = pool.table.ended(pool.held[0][1], from: 0, connections: 60_000)
        #expect(pool.table.connections(to: 1) == 2, "a worker does not give itself a larger share")
        #expect(pool.table.told(1, by: 0, open: 0) == true)
        #expect(pool.table.connections(to: 1) == 1)
        _ = pool.table.ended(pool.held[0][2], from: 0, connections: 0)
        #expect(pool.table.connections(to: 1) == 0)
    }

    @Test("a lease that was not sent leaves all as it was")
    func withdrawn() {
        var pool = Pool(idle: [1])
        for _ in 0..<2 {
            let first = pool.grant(to: 0)
            let second = pool.grant(to: 0)
            #expect(pool.table.connections(to: 1) == 2)
            #expect(pool.table.ended(second, from: 0) != nil)
            #expect(pool.table.ended(first, from: 0) != nil)
            #expect(pool.table.connections(to: 1) == 1)
        }
        let alone = pool.grant(of: 9, to: 1)
        #expect(pool.table.ended(alone, from: 1) != nil)
        #expect(pool.table.connections(to: 9) == 0)
    }

    @Test("a lease that was given up ends like any other, whether it had a connection or not")
    func givenUp() {
        var pool = Pool(held: [1])
        let waiting = pool.grant(to: 0)
        #expect(pool.table.ended(pool.held[0][0], from: 0, connections: 1) != nil)
        // It never had one: what is open is that of the other.
        #expect(pool.table.ended(waiting, from: 0, connections: 1) != nil)
        #expect(pool.table.connections(to: 1) == 1)
        // It took that one, which was closed with it.
        let running = pool.grant(to: 0)
        #expect(pool.table.ended(running, from: 0, connections: 0) != nil)
        #expect(pool.table.connections(to: 1) == 0)
    }

    @Test("an origin whose lease was not sent is no news, and one that was counted is forgotten once")
    func withdrawnOrigins() {
        var pool = Pool(held: [1])
        _ = pool.table.takeFoundOrigin()
        for origin in 2..<6 as Range<OriginKey> {
            let id = pool.grant(of: origin, to: 1)
            #expect(pool.table.ended(id, from: 1) != nil)
        }
        // Its number may be another's by the time somebody takes note.
        #expect(!pool.table.hasNewsOfOrigins)
        // Forgotten, found again and withdrawn before anybody has looked.
        _ = pool.table.ended(pool.held[0][0], from: 0, connections: 0)
        let again = pool.grant(to: 2)
        #expect(pool.table.ended(again, from: 2) != nil)
        #expect(pool.table.takeFoundOrigin() == nil)
        #expect(pool.table.takeForgottenOrigin() == 1)
        #expect(!pool.table.hasNewsOfOrigins)
    }

    @Test("the share of a worker that is gone is free, and what it was asked with it")
    func lost() {
        var pool = Pool(idle: [2, 1])
        pool.table.workerDraining(0)
        #expect(pool.table.place(1, isSuspect: false, limit: 2) == .worker(1, keepsConnection: true))
        #expect(pool.table.surplus(of: 1, limit: 1).map { [$0.worker, $0.count] } == [[0, 2]])
        #expect(pool.table.surplus(of: 1, limit: 0).map { [$0.worker, $0.count] } == [[1, 1]])
        _ = pool.table.workerLost(0, exit: .signalled(signal: 9), wasSent: { _ in true }, isIdempotent: { _ in true })
        #expect(pool.table.connections(to: 1) == 1)
        let nobody = pool.table.surplus(of: 1, limit: 1)
        #expect(nobody.isEmpty)
    }

    @Test("an origin is counted from its first lease to its last connection")
    func origins() {
        var pool = Pool(held: [1, 1])
        #expect(pool.table.hasNewsOfOrigins)
        #expect(pool.table.takeFoundOrigin() == 1)
        #expect(pool.table.takeFoundOrigin() == nil && pool.table.takeForgottenOrigin() == nil)
        _ = pool.table.ended(pool.held[0][0], from: 0, connections: 0)
        _ = pool.table.ended(pool.held[1][0], from: 1, connections: 1)
        #expect(!pool.table.hasNewsOfOrigins)
        #expect(pool.table.told(1, by: 1, open: 0) == true)
        #expect(pool.table.takeForgottenOrigin() == 1)
        #expect(!pool.table.hasNewsOfOrigins)
    }
}
