import Testing

@testable import TrawlSupervision

private let crash = WorkerExit.signalled(signal: 11)
private let killedFromOutside = WorkerExit.signalled(signal: 9)

@Suite("Lease table")
struct LeaseTableTests {
    private func table(workers: Int, leases: Int) -> LeaseTable {
        var table = LeaseTable(workers: workers, leasesPerWorker: leases)
        for worker in 0..<workers { table.workerReady(worker) }
        return table
    }

    private func lose(
        _ worker: Int, _ exit: WorkerExit, in table: inout LeaseTable, sent: Bool = true, idempotent: Bool = true
    ) -> [LostHop.Verdict] {
        table.workerLost(worker, exit: exit, wasSent: { _ in sent }, isIdempotent: { _ in idempotent }).map(\.verdict)
    }

    @Test("a lease ends once, and only for the worker that holds it")
    func endsOnce() {
        var table = table(workers: 2, leases: 4)
        let lease = table.grant(hop: 42, origin: 0, to: 1, isSuspect: false)
        #expect(table.hop(of: lease.id, from: 1) == 42)
        #expect(table.hop(of: lease.id, from: 0) == nil)
        #expect(table.ended(lease.id, from: 0) == nil)
        #expect(table.ended(lease.id, from: 1) == 42)
        #expect(table.ended(lease.id, from: 1) == nil)
        #expect(table.hop(of: lease.id, from: 1) == nil)
    }

    @Test("an old id is refused when its record is in use again")
    func oldID() {
        var table = table(workers: 1, leases: 1)
        let old = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        #expect(table.ended(old.id, from: 0) == 1)
        let new = table.grant(hop: 2, origin: 0, to: 0, isSuspect: false)
        #expect(new.progressIndex == old.progressIndex)
        #expect(table.ended(old.id, from: 0) == nil)
        #expect(table.cancelRequested(old.id) == nil)
        #expect(table.hop(of: new.id, from: 0) == 2)
    }

    @Test("an id of a lost generation is refused in the next")
    func lostGeneration() {
        var table = table(workers: 1, leases: 2)
        let old = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        #expect(lose(0, killedFromOutside, in: &table) == [.requeue(asSuspect: false)])
        table.workerReady(0)
        let new = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        #expect(old.id != new.id)
        #expect(table.ended(old.id, from: 0) == nil)
        #expect(table.ended(new.id, from: 0) == 1)
    }

    @Test(
        "ids made up by a worker are refused",
        arguments: [0, 1, 1 << 12, 1 << 22, 0xFFF | 1 << 22, 0x3FF << 12 | 1 << 22, .max] as [UInt64])
    func forgedIDs(raw: UInt64) {
        var table = table(workers: 2, leases: 3)
        for worker in [0, 1, 2, 1023] {
            #expect(table.ended(LeaseID(rawValue: raw), from: worker) == nil)
            #expect(table.hop(of: LeaseID(rawValue: raw), from: worker) == nil)
        }
        #expect(table.cancelRequested(LeaseID(rawValue: raw)) == nil)
    }

    @Test("a record whose serials are used up is never held again")
    func serialsUsedUp() {
        var table = LeaseTable(workers: 1, leasesPerWorker: 1, lastSerial: LeaseID.maximumSerial - 1)
        table.workerReady(0)
        let last = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        #expect(last.id.serial == LeaseID.maximumSerial)
        #expect(table.ended(last.id, from: 0) == 1)
        #expect(table.freeCapacity == 0)
        #expect(table.choose(for: 0, isSuspect: false) == nil)
        _ = lose(0, crash, in: &table)
        table.workerReady(0)
        #expect(table.choose(for: 0, isSuspect: true) == nil)
    }

    @Test("a worker that is absent, draining or full gets nothing")
    func unavailable() {
        var table = LeaseTable(workers: 2, leasesPerWorker: 1)
        #expect(table.choose(for: 0, isSuspect: false) == nil)
        table.workerReady(0)
        table.workerReady(1)
        #expect(table.freeCapacity == 2)
        table.workerDraining(0)
        #expect(table.freeCapacity == 1)
        #expect(table.choose(for: 0, isSuspect: false) == 1)
        _ = table.grant(hop: 1, origin: 0, to: 1, isSuspect: false)
        #expect(table.choose(for: 0, isSuspect: false) == nil)
        #expect(table.freeCapacity == 0)
    }

    @Test("a draining worker is idle when its last lease has ended")
    func draining() {
        var table = table(workers: 1, leases: 2)
        let lease = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        table.workerDraining(0)
        #expect(table.heldCount(of: 0) == 1)
        #expect(table.ended(lease.id, from: 0) == 1)
        #expect(table.heldCount(of: 0) == 0)
        #expect(table.freeCapacity == 0)
    }

    @Test("one fetch after another of an origin stays with its worker")
    func affinity() {
        var table = table(workers: 4, leases: 8)
        var workers: Set<Int> = []
        for hop in 0..<20 as Range<UInt64> {
            guard let worker = table.choose(for: 9, isSuspect: false) else { continue }
            workers.insert(worker)
            let lease = table.grant(hop: hop, origin: 9, to: worker, isSuspect: false)
            #expect(table.ended(lease.id, from: worker) == hop)
            // Another origin in between takes its own worker and does not disturb.
            if let other = table.choose(for: UInt32(100 + hop), isSuspect: false) {
                let lease = table.grant(hop: 1000, origin: UInt32(100 + hop), to: other, isSuspect: false)
                #expect(table.ended(lease.id, from: other) == 1000)
            }
        }
        #expect(workers.count == 1)
    }

    @Test("a single busy origin spreads over all workers", arguments: [8, 64, 256])
    func spread(inFlight: Int) {
        var table = table(workers: 4, leases: 128)
        for hop in 0..<inFlight {
            guard let worker = table.choose(for: 9, isSuspect: false) else { break }
            _ = table.grant(hop: UInt64(hop), origin: 9, to: worker, isSuspect: false)
        }
        let loads = (0..<4).map { table.heldCount(of: $0) }
        #expect(loads.reduce(0, +) == inFlight)
        let least = loads.min() ?? 0
        #expect((loads.max() ?? 0) <= least + least / 4 + 2, "\(loads)")
    }

    @Test("all places of all workers can be filled", arguments: [1, 7, 1000])
    func fill(origins: Int) {
        var table = table(workers: 5, leases: 16)
        var granted = 0
        while let worker = table.choose(for: UInt32(granted % origins), isSuspect: false) {
            _ = table.grant(hop: UInt64(granted), origin: UInt32(granted % origins), to: worker, isSuspect: false)
            granted += 1
            #expect(table.freeCapacity == 80 - granted)
        }
        #expect(granted == 80)
    }

    @Test(
        "verdicts after the loss of a worker (POOL-03)",
        arguments: [
            (crash, true, true, LostHop.Verdict.requeue(asSuspect: true)),
            (crash, false, false, .requeue(asSuspect: true)),
            (crash, true, false, .fail(.notRepeatable)),
            (killedFromOutside, true, true, .requeue(asSuspect: false)),
            (killedFromOutside, false, false, .requeue(asSuspect: false)),
            (killedFromOutside, true, false, .fail(.notRepeatable)),
        ])
    func verdicts(exit: WorkerExit, sent: Bool, idempotent: Bool, expected: LostHop.Verdict) {
        var table = table(workers: 1, leases: 3)
        for hop in 0..<3 as Range<UInt64> { _ = table.grant(hop: hop, origin: 0, to: 0, isSuspect: false) }
        #expect(lose(0, exit, in: &table, sent: sent, idempotent: idempotent) == [expected, expected, expected])
        #expect(table.heldCount(of: 0) == 0 && table.heldCount == 0 && table.freeCapacity == 0)
    }

    @Test("a suspect fails at its second crash, and not at an exit that is no crash")
    func suspectVerdicts() {
        var table = table(workers: 1, leases: 3)
        _ = table.grant(hop: 1, origin: 0, to: 0, isSuspect: true)
        #expect(lose(0, killedFromOutside, in: &table) == [.requeue(asSuspect: true)])
        table.workerReady(0)
        _ = table.grant(hop: 1, origin: 0, to: 0, isSuspect: true)
        #expect(lose(0, .outOfMemory, in: &table) == [.fail(.secondCrash)])
    }

    @Test("a hop whose cancellation was under way ends as cancelled when its worker is lost")
    func cancelledAndLost() {
        var table = table(workers: 2, leases: 3)
        let lease = table.grant(hop: 1, origin: 0, to: 1, isSuspect: false)
        #expect(table.cancelRequested(lease.id) == 1)
        #expect(table.cancelRequested(lease.id) == nil)
        #expect(lose(1, crash, in: &table) == [.cancelled])
    }

    @Test("a suspect takes an idle worker for itself")
    func suspectAlone() {
        var table = table(workers: 2, leases: 4)
        _ = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        #expect(table.choose(for: 0, isSuspect: true) == 1)
        let suspect = table.grant(hop: 2, origin: 0, to: 1, isSuspect: true)
        #expect(table.freeCapacity == 3)
        #expect(table.choose(for: 0, isSuspect: false) == 0)
        for hop in 3..<6 as Range<UInt64> { _ = table.grant(hop: hop, origin: 0, to: 0, isSuspect: false) }
        #expect(table.choose(for: 0, isSuspect: false) == nil)
        #expect(table.ended(suspect.id, from: 1) == 2)
        #expect(table.choose(for: 0, isSuspect: false) == 1)
        #expect(table.freeCapacity == 4)
    }

    @Test("a waiting suspect gets a worker set aside under steady load, and ordinary hops keep the rest")
    func setAside() {
        var table = table(workers: 2, leases: 2)
        let first = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        _ = table.grant(hop: 2, origin: 0, to: 1, isSuspect: false)
        _ = table.grant(hop: 3, origin: 0, to: 1, isSuspect: false)
        #expect(table.choose(for: 0, isSuspect: true) == nil)
        #expect(table.choose(for: 0, isSuspect: true) == nil)
        #expect(table.freeCapacity == 0)
        #expect(table.choose(for: 0, isSuspect: false) == nil)
        #expect(table.ended(first.id, from: 0) == 1)
        #expect(table.choose(for: 0, isSuspect: true) == 0)
    }

    @Test("a worker set aside for a suspect that was cancelled is back when idle")
    func setAsideInVain() {
        var table = table(workers: 1, leases: 2)
        let first = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        #expect(table.choose(for: 0, isSuspect: true) == nil)
        #expect(table.choose(for: 0, isSuspect: false) == nil)
        #expect(table.ended(first.id, from: 0) == 1)
        #expect(table.freeCapacity == 2)
        #expect(table.choose(for: 0, isSuspect: false) == 0)
    }

    @Test("a worker set aside takes ordinary hops again when no suspect waits any more, however long its leases last")
    func setAsideNoLonger() {
        var table = table(workers: 1, leases: 2)
        table.noSuspectWaits()
        let first = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        #expect(!table.setsAside)
        #expect(table.choose(for: 0, isSuspect: true) == nil)
        #expect(table.setsAside && table.freeCapacity == 0)
        table.noSuspectWaits()
        #expect(!table.setsAside && table.freeCapacity == 1)
        #expect(table.choose(for: 0, isSuspect: false) == 0)
        // The next suspect has the worker set aside as the first had.
        #expect(table.choose(for: 0, isSuspect: true) == nil)
        #expect(table.ended(first.id, from: 0) == 1)
        #expect(!table.setsAside && table.freeCapacity == 2)
        #expect(table.choose(for: 0, isSuspect: true) == 0)
    }

    @Test("a worker that was set aside is back when the suspect has got another one")
    func setAsideBesideAnother() {
        var table = table(workers: 2, leases: 2)
        _ = table.grant(hop: 1, origin: 0, to: 0, isSuspect: false)
        let other = table.grant(hop: 2, origin: 0, to: 1, isSuspect: false)
        let third = table.grant(hop: 3, origin: 0, to: 1, isSuspect: false)
        #expect(table.choose(for: 0, isSuspect: true) == nil)
        #expect(table.ended(other.id, from: 1) == 2 && table.ended(third.id, from: 1) == 3)
        #expect(table.choose(for: 0, isSuspect: true) == 1)
        let suspect = table.grant(hop: 4, origin: 0, to: 1, isSuspect: true)
        #expect(table.freeCapacity == 0)
        table.noSuspectWaits()
        #expect(table.freeCapacity == 1 && table.choose(for: 0, isSuspect: false) == 0)
        #expect(table.ended(suspect.id, from: 1) == 4)
        #expect(table.freeCapacity == 3)
    }
}
