import Testing
import TrawlHTTP
import TrawlSupervision

@Suite("Pool state")
struct PoolStateTests {
    private func slot(_ reason: RetireReason?) -> WorkerSlot {
        var slot = WorkerSlot()
        if let reason { _ = slot.retire(reason) }
        return slot
    }

    @Test("one slot that is of use keeps the pool up")
    func up() {
        #expect(PoolState(of: [slot(.cannotWork), slot(nil), slot(.shutdown)]) == .up)
    }

    @Test("slots that were all shut down are a stopped pool")
    func stopped() {
        #expect(PoolState(of: [slot(.shutdown), slot(.shutdown)]) == .stopped)
    }

    @Test("a pool with no slot left is down for the first fault")
    func down() {
        let slots = [slot(.shutdown), slot(.cannotStart(errno: 2)), slot(.incompatible)]
        #expect(PoolState(of: slots) == .down(.cannotStart(errno: 2)))
    }

    @Test("a slot whose process is still to end counts as given up")
    func ending() {
        var slot = WorkerSlot()
        _ = slot.started(at: MonotonicInstant(nanoseconds: 0))
        _ = slot.retire(.incompatible)
        #expect(PoolState(of: [slot]) == .down(.incompatible))
    }
}
