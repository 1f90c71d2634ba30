import TestSupport
import Testing

@testable import TrawlSupervision

/// Workers that keep connections as real ones do, and a coordinator that hears of it later.
private struct Pool {
    enum Order { case lease(LeaseID, HopID, OriginKey, keeps: Bool), release(OriginKey, Int) }
    enum News { case ended(LeaseID, OriginKey, open: Int), connections(OriginKey, open: Int) }

    struct Transfer {
        var id: LeaseID
        var origin: OriginKey
        var keeps: Bool
        var isConnected = false
    }

    struct Worker {
        var isAlive = true
        var isDraining = false
        var transfers: [Transfer] = []
        var idle: [OriginKey: Int] = [:]
        var orders: [Order] = []
        var news: [News] = []

        func open(_ origin: OriginKey) -> Int {
            idle[origin, default: 0] + transfers.count(where: { $0.isConnected && $0.origin == origin })
        }
    }

    let seed: UInt64
    let limit: UInt32
    let origins: UInt32
    let leases: Int
    var random: SeededGenerator
    var table: LeaseTable
    var workers: [Worker]
    var waiting: [(hop: HopID, origin: OriginKey, isSuspect: Bool)] = []
    var held: [(hop: HopID, origin: OriginKey, isSuspect: Bool)] = []
    var inProcess: [OriginKey: Int] = [:]
    var hops: [HopID: OriginKey] = [:]
    var lastHop: HopID = 0
    var done = 0
    var questions = 0
    var counted: [OriginKey: Int] = [:]

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        limit = .random(in: 1...4, using: &random)
        origins = .random(in: 1...5, using: &random)
        leases = .random(in: 1...6, using: &random)
        let count = Int.random(in: 2...8, using: &random)
        table = LeaseTable(workers: count, leasesPerWorker: leases)
        workers = Array(repeating: Worker(), count: count)
        for worker in 0..<count { table.workerReady(worker) }
    }

    // MARK: The coordinator

    mutating func dispatch() {
        let before = held
        held = []
        for hop in before { if !place(hop) { held.append(hop) } }
        var left: [(hop: HopID, origin: OriginKey, isSuspect: Bool)] = []
        for hop in waiting {
            guard inProcess[hop.origin, default: 0] < Int(limit), table.freeCapacity > 0 else {
                left.append(hop)
                continue
            }
            inProcess[hop.origin, default: 0] += 1
            if !place(hop) { held.append(hop) }
        }
        waiting = left
        while let origin = table.takeFoundOrigin() { counted[origin, default: 0] += 1 }
        while let origin = table.takeForgottenOrigin() { counted[origin, default: 0] -= 1 }
        for (origin, uses) in counted {
            #expect(uses == (table.connections(to: origin) > 0 ? 1 : 0), "seed \(seed)")
        }
    }

    private mutating func place(_ hop: (hop: HopID, origin: OriginKey, isSuspect: Bool)) -> Bool {
        switch table.place(hop.origin, isSuspect: hop.isSuspect, limit: limit) {
        case .worker(let worker, let keeps):
            let grant = table.grant(
                hop: hop.hop, origin: hop.origin, to: worker, isSuspect: hop.isSuspect, isCounted: true)
            workers[worker].orders.append(.lease(grant.id, hop.hop, hop.origin, keeps: keeps))
            return true
        case .awaitsConnection(let holder):
            if let holder {
                questions += 1
                workers[holder].orders.append(.release(hop.origin, 1))
            }
            return false
        case .nowhere:
            return false
        }
    }

    mutating func hear(_ worker: Int) {
        guard !workers[worker].news.isEmpty else { return }
        switch workers[worker].news.removeFirst() {
        case .ended(let id, let origin, let open):
            #expect(table.ended(id, from: worker, connections: open) != nil, "seed \(seed)")
            inProcess[origin, default: 0] -= 1
            done += 1
        case .connections(let origin, let open):
            _ = table.told(origin, by: worker, open: open)
        }
    }

    mutating func lose(_ worker: Int) {
        while !workers[worker].news.isEmpty { hear(worker) }
        workers[worker] = Worker(isAlive: false)
        let lost = table.workerLost(
            worker, exit: random.bool() ? .signalled(signal: 11) : .signalled(signal: 9), wasSent: { _ in false },
            isIdempotent: { _ in true })
        for hop in lost {
            let origin = hops[hop.hop] ?? 0
            inProcess[origin, default: 0] -= 1
            if case .requeue(let asSuspect) = hop.verdict {
                waiting.insert((hop.hop, origin, asSuspect), at: 0)
            } else {
                done += 1
            }
        }
    }

    // MARK: A worker

    mutating func obey(_ worker: Int) {
        guard workers[worker].isAlive, !workers[worker].orders.isEmpty else { return }
        switch workers[worker].orders.removeFirst() {
        case .lease(let id, _, let origin, let keeps):
            workers[worker].transfers.append(Transfer(id: id, origin: origin, keeps: keeps))
        case .release(let origin, let count):
            workers[worker].idle[origin, default: 0] -= min(count, workers[worker].idle[origin, default: 0])
            workers[worker].news.append(.connections(origin, open: workers[worker].open(origin)))
        }
    }

    mutating func connect(_ worker: Int) {
        guard
            let index = workers[worker].transfers.indices.filter({ !workers[worker].transfers[$0].isConnected })
                .randomElement(using: &random)
        else { return }
        // It takes an idle one up, or closes one that does not suit it and opens another.
        let origin = workers[worker].transfers[index].origin
        workers[worker].idle[origin] = max(0, workers[worker].idle[origin, default: 0] - 1)
        workers[worker].transfers[index].isConnected = true
    }

    mutating func finish(_ worker: Int) {
        guard let index = workers[worker].transfers.indices.randomElement(using: &random) else { return }
        let transfer = workers[worker].transfers.remove(at: index)
        if transfer.isConnected, transfer.keeps, !random.once(in: 4) {
            workers[worker].idle[transfer.origin, default: 0] += 1
        }
        workers[worker].news.append(.ended(transfer.id, transfer.origin, open: workers[worker].open(transfer.origin)))
    }

    mutating func closeIdle(_ worker: Int) {
        guard let origin = workers[worker].idle.filter({ $0.value > 0 }).keys.sorted().randomElement(using: &random)
        else { return }
        workers[worker].idle[origin, default: 0] -= 1
        workers[worker].news.append(.connections(origin, open: workers[worker].open(origin)))
    }

    // MARK: Steps

    mutating func add() {
        lastHop += 1
        let origin = UInt32.random(in: 0..<origins, using: &random)
        hops[lastHop] = origin
        waiting.append((lastHop, origin, random.once(in: 20)))
    }

    mutating func step() {
        let worker = Int.random(in: 0..<workers.count, using: &random)
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<8: add()
        case 8..<14: dispatch()
        case 14..<20: obey(worker)
        case 20..<26: connect(worker)
        case 26..<30: finish(worker)
        case 30..<36: hear(worker)
        case 36: closeIdle(worker)
        case 37:
            if workers[worker].isAlive, random.once(in: 4) { lose(worker) }
        case 38:
            if workers[worker].isAlive, random.once(in: 8) {
                table.workerDraining(worker)
                workers[worker].isDraining = true
            }
        case _:
            if !workers[worker].isAlive {
                workers[worker] = Worker()
                table.workerReady(worker)
            } else if workers[worker].isDraining, workers[worker].transfers.isEmpty, workers[worker].orders.isEmpty {
                lose(worker)
            }
        }
    }

    func check() {
        for origin in 0..<origins {
            let open = workers.reduce(0) { $0 + $1.open(origin) }
            #expect(open <= limit, "\(open) connections, seed \(seed)")
            #expect(table.connections(to: origin) <= limit, "seed \(seed)")
            #expect(table.connections(to: origin) >= open, "seed \(seed)")
        }
    }

    /// Lets everything come to its end while the workers stay.
    mutating func settle() -> Bool {
        for worker in workers.indices {
            if workers[worker].isDraining { lose(worker) }
            if !workers[worker].isAlive {
                workers[worker] = Worker()
                table.workerReady(worker)
            }
        }
        for _ in 0..<4000 where done < Int(lastHop) {
            dispatch()
            for worker in workers.indices {
                obey(worker)
                connect(worker)
                if random.bool() { finish(worker) }
                hear(worker)
            }
            check()
        }
        return done == Int(lastHop)
    }
}

@Suite("Shares of connections against a model, POOL-11")
struct ConnectionSharesModelTests {
    @Test(
        "no origin ever has more connections than its limit, and no hop waits for ever",
        arguments: 0..<80 as Range<UInt64>)
    func random(seed: UInt64) {
        var pool = Pool(seed: seed)
        for _ in 0..<1500 {
            pool.step()
            pool.check()
        }
        let isSettled = pool.settle()
        #expect(isSettled, "hops are stuck, seed \(seed)")
        for worker in pool.workers.indices {
            while !pool.workers[worker].orders.isEmpty { pool.obey(worker) }
            while pool.workers[worker].idle.values.contains(where: { $0 > 0 }) { pool.closeIdle(worker) }
            while !pool.workers[worker].news.isEmpty { pool.hear(worker) }
        }
        pool.dispatch()
        #expect(pool.counted.values.allSatisfy { $0 == 0 })
        #expect((0..<pool.origins).allSatisfy { pool.table.connections(to: $0) == 0 })
    }

    @Test("hops of a few busy origins are spread over all workers")
    func spread() {
        var table = LeaseTable(workers: 4, leasesPerWorker: 16)
        for worker in 0..<4 { table.workerReady(worker) }
        var held: [(id: LeaseID, worker: Int)] = []
        var random = SeededGenerator(seed: 5)
        for hop in 0..<4000 as Range<UInt64> {
            let origin = UInt32(hop % 4)
            if case .worker(let worker, _) = table.place(origin, isSuspect: false, limit: 8) {
                let grant = table.grant(hop: hop, origin: origin, to: worker, isSuspect: false, isCounted: true)
                held.append((grant.id, worker))
            }
            if held.count >= 24 {
                let index = Int.random(in: 0..<held.count, using: &random)
                let entry = held.remove(at: index)
                _ = table.ended(entry.id, from: entry.worker, connections: 8)
            }
        }
        let loads = (0..<4).map { table.heldCount(of: $0) }
        #expect(loads.allSatisfy { (3...9).contains($0) }, "\(loads)")
    }
}
