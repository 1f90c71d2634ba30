import TestSupport
import Testing
import TrawlSupervision

/// Runs a pool of workers that die at random and checks after each step what must always hold.
private struct Model {
    enum Place: Equatable {
        case waiting, suspectWaiting, ended
        case held(LeaseID, worker: Int, asSuspect: Bool)
    }

    let workers: Int
    let leases: Int
    let seed: UInt64
    var random: SeededGenerator
    var table: LeaseTable
    var places: [HopID: Place] = [:]
    var ready: Set<Int> = []
    var draining: Set<Int> = []
    var everGranted: Set<LeaseID> = []
    var old: [LeaseID] = []

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        workers = Int.random(in: 1...6, using: &random)
        leases = Int.random(in: 1...9, using: &random)
        table = LeaseTable(workers: workers, leasesPerWorker: leases)
    }

    func held(by worker: Int) -> [(hop: HopID, id: LeaseID, asSuspect: Bool)] {
        places.compactMap { hop, place in
            if case .held(let id, let holder, let asSuspect) = place, holder == worker { return (hop, id, asSuspect) }
            return nil
        }
        .sorted { $0.hop < $1.hop }
    }

    func hops(_ place: Place) -> [HopID] { places.filter { $0.value == place }.map(\.key).sorted() }

    /// Leases as many waiting hops as the table allows, suspects first.
    mutating func pump() {
        for hop in hops(.suspectWaiting) {
            guard lease(hop, isSuspect: true) else { break }
        }
        for hop in hops(.waiting) {
            guard lease(hop, isSuspect: false) else { break }
        }
    }

    mutating func lease(_ hop: HopID, isSuspect: Bool) -> Bool {
        let origin = UInt32(hop % 5)
        let capacity = table.freeCapacity
        guard let worker = table.choose(for: origin, isSuspect: isSuspect) else {
            if !isSuspect {
                #expect(capacity == 0, "seed \(seed)")
                let idleHands = ready.subtracting(draining).filter { worker in
                    let held = held(by: worker)
                    return held.count < leases && !held.contains { $0.asSuspect }
                }
                #expect(idleHands.count <= 1, "more than one worker rests, seed \(seed)")
            }
            return false
        }
        #expect(capacity > 0, "seed \(seed)")
        #expect(ready.contains(worker) && !draining.contains(worker), "seed \(seed)")
        let before = held(by: worker)
        #expect(before.count < leases, "seed \(seed)")
        #expect(!before.contains { $0.asSuspect }, "a suspect got company, seed \(seed)")
        if isSuspect { #expect(before.isEmpty, "a suspect is not alone, seed \(seed)") }
        let grant = table.grant(hop: hop, origin: origin, to: worker, isSuspect: isSuspect)
        let isNew = everGranted.insert(grant.id).inserted
        #expect(isNew, "an id came twice, seed \(seed)")
        places[hop] = .held(grant.id, worker: worker, asSuspect: isSuspect)
        return true
    }

    mutating func end(_ hop: HopID) {
        guard case .held(let id, let worker, _) = places[hop] else { return }
        #expect(table.ended(id, from: (worker + 1) % (workers + 1)) == nil, "seed \(seed)")
        #expect(table.ended(id, from: worker) == hop, "seed \(seed)")
        places[hop] = .ended
        old.append(id)
    }

    mutating func lose(_ worker: Int) {
        let isCrash = random.once(in: 2)
        let before = held(by: worker)
        let lost = table.workerLost(
            worker, exit: isCrash ? .signalled(signal: 11) : .signalled(signal: 9),
            wasSent: { $0.rawValue % 3 != 0 }, isIdempotent: { $0 % 4 != 0 })
        ready.remove(worker)
        draining.remove(worker)
        #expect(lost.map(\.hop).sorted() == before.map { $0.hop }, "seed \(seed)")
        for entry in before {
            guard let verdict = lost.first(where: { $0.hop == entry.hop })?.verdict else { continue }
            let mayRepeat = entry.hop % 4 != 0 || entry.id.rawValue % 3 == 0
            old.append(entry.id)
            switch verdict {
            case .requeue(let asSuspect):
                #expect(mayRepeat, "seed \(seed)")
                #expect(asSuspect == (isCrash || entry.asSuspect), "seed \(seed)")
                places[entry.hop] = asSuspect ? .suspectWaiting : .waiting
            case .fail(.secondCrash):
                #expect(isCrash && entry.asSuspect && before.count == 1, "seed \(seed)")
                places[entry.hop] = .ended
            case .fail(.notRepeatable):
                #expect(!mayRepeat, "seed \(seed)")
                places[entry.hop] = .ended
            case .cancelled:
                Issue.record("nobody cancelled, seed \(seed)")
            }
        }
    }

    mutating func step() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<5:
            places[HopID(places.count + 1)] = .waiting
        case 5..<9:
            pump()
        case 9..<15:
            let worker = Int.random(in: 0..<workers, using: &random)
            if let entry = held(by: worker).randomElement(using: &random) { end(entry.hop) }
        case 15:
            if let id = old.randomElement(using: &random) {
                for worker in 0..<workers { #expect(table.ended(id, from: worker) == nil, "seed \(seed)") }
                #expect(table.cancelRequested(id) == nil, "seed \(seed)")
            }
        case 16:
            if random.once(in: 3) { lose(Int.random(in: 0..<workers, using: &random)) }
        case 17:
            let worker = Int.random(in: 0..<workers, using: &random)
            if ready.contains(worker) && random.once(in: 3) {
                table.workerDraining(worker)
                draining.insert(worker)
            }
        case _:
            let worker = Int.random(in: 0..<workers, using: &random)
            if !ready.contains(worker) {
                table.workerReady(worker)
                ready.insert(worker)
            }
        }
    }

    func check() {
        var total = 0
        for worker in 0..<workers {
            let held = held(by: worker)
            total += held.count
            #expect(table.heldCount(of: worker) == held.count, "seed \(seed)")
            for entry in held { #expect(table.hop(of: entry.id, from: worker) == entry.hop, "seed \(seed)") }
        }
        #expect(table.heldCount == total, "seed \(seed)")
        #expect(table.freeCapacity >= 0 && table.freeCapacity <= workers * leases, "seed \(seed)")
    }
}

@Suite("Lease table against a model")
struct LeaseTableModelTests {
    @Test("no lease is held twice or lost, and suspects run alone", arguments: 0..<60 as Range<UInt64>)
    func random(seed: UInt64) {
        var model = Model(seed: seed)
        for _ in 0..<400 {
            model.step()
            model.check()
        }
        // Every hop comes to its end once the workers stay.
        for worker in 0..<model.workers {
            if model.draining.contains(worker) { model.lose(worker) }
            if !model.ready.contains(worker) {
                model.table.workerReady(worker)
                model.ready.insert(worker)
            }
        }
        var rounds = 0
        while model.places.values.contains(where: { $0 != .ended }) && rounds < 2000 {
            rounds += 1
            model.pump()
            let worker = rounds % model.workers
            if let entry = model.held(by: worker).first { model.end(entry.hop) }
        }
        model.check()
        #expect(model.places.values.allSatisfy { $0 == .ended }, "hops are stuck, seed \(seed)")
        #expect(model.table.freeCapacity == model.workers * model.leases, "seed \(seed)")
    }

    @Test("suspects come through while ordinary hops never cease", arguments: 1...5)
    func suspectsUnderLoad(workers: Int) {
        var table = LeaseTable(workers: workers, leasesPerWorker: 4)
        for worker in 0..<workers { table.workerReady(worker) }
        var held: [(id: LeaseID, worker: Int)] = []
        var suspects = 0
        var served = 0
        for hop in 0..<2000 as Range<UInt64> {
            if hop == 100 { suspects = 20 }
            while suspects > 0, let worker = table.choose(for: 1, isSuspect: true) {
                held.append((table.grant(hop: hop, origin: 1, to: worker, isSuspect: true).id, worker))
                suspects -= 1
            }
            while let worker = table.choose(for: 1, isSuspect: false) {
                held.append((table.grant(hop: hop, origin: 1, to: worker, isSuspect: false).id, worker))
                served += 1
            }
            if suspects > 0 && workers > 1 { #expect(held.count > 1, "ordinary hops must go on") }
            let oldest = held.removeFirst()
            #expect(table.ended(oldest.id, from: oldest.worker) != nil)
        }
        #expect(suspects == 0)
        #expect(served > 1000)
    }
}
