import Testing
import TrawlHTTP
import TrawlSupervision

@testable import Trawl

@Suite("The worker slots of a coordinator")
struct WorkerPoolTests {
    private func at(_ seconds: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

    @Test("the earliest restart is known, and each is due once")
    func restarts() {
        var pool = WorkerPool(3, RestartPolicy())
        #expect(pool.isEmpty)
        #expect(pool.earliestRestart == nil)
        pool.restart(0, at: at(5))
        pool.restart(2, at: at(3))
        #expect(pool.earliestRestart == at(3))
        let due = [0, 1, 2, 2].filter { pool.takeRestart($0, dueAt: at(4)) }
        #expect(due == [2])
        #expect(pool.earliestRestart == at(5))
        pool.restart(0, at: nil)
        #expect(pool.earliestRestart == nil)
    }

    @Test("a slot is marked once until all was sent, and a refusal stays")
    func marks() {
        var pool = WorkerPool(3, RestartPolicy())
        for slot in [2, 0, 2, 0] { pool.markDirty(slot) }
        #expect(pool.dirty == [2, 0])
        pool.clearDirty()
        #expect(pool.dirty.isEmpty)
        #expect(pool.refusal == nil)
        pool.noteRefusal(1, "no greeting")
        #expect(pool.refusal == "no greeting")
    }

    @Test("what kept the latest worker from starting is known by its call, unless that was the executable's")
    func failedStarts() {
        var pool = WorkerPool(2, RestartPolicy())
        #expect(pool.callThatFailed(with: 1) == nil)
        pool.noteFailedStart("pidfd_open", 1)
        #expect(pool.callThatFailed(with: 1) == "pidfd_open")
        #expect(pool.callThatFailed(with: 2) == nil)
        pool.noteFailedStart("posix_spawn", 1)
        #expect(pool.callThatFailed(with: 1) == nil)
    }
}
