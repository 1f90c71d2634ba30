import Foundation
import Glibc
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("Bringing commits to the disk", .timeLimit(.minutes(10)))
struct SyncThreadTests {
    @Test("who asks does not wait for the disk, and what is asked for meanwhile is done after that")
    func besides() throws {
        let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let runs = Guarded(0)
        let syncs = SyncThread(delay: .zero) {
            runs.withLock { $0 += 1 }
            entered.signal()
            gate.wait()
            return true
        }
        try syncs.start()
        syncs.ask()
        entered.wait()
        syncs.ask()
        syncs.ask()
        gate.signal()
        entered.wait()
        gate.signal()
        syncs.stop()
        #expect(runs.withLock { $0 } == 2)
    }

    @Test("what was asked for is done at the end at the latest, and nothing else", arguments: [false, true])
    func end(isAsked: Bool) throws {
        let runs = Guarded(0)
        let syncs = SyncThread(delay: .seconds(3600)) {
            runs.withLock { $0 += 1 }
            return false
        }
        try syncs.start()
        if isAsked { syncs.ask() }
        syncs.stop()
        #expect(runs.withLock { $0 } == (isAsked ? 1 : 0))
    }

    @Test("a disk that does not take it is asked again")
    func again() throws {
        let done = DispatchSemaphore(value: 0)
        let runs = Guarded(0)
        let syncs = SyncThread(delay: .milliseconds(1)) {
            let count = runs.withLock { runs in
                runs += 1
                return runs
            }
            if count == 3 { done.signal() }
            return count >= 3
        }
        try syncs.start()
        syncs.ask()
        done.wait()
        syncs.stop()
        #expect(runs.withLock { $0 } == 3)
    }

    @Test("a store thread that ends has brought to the disk what it was asked for")
    func grouped() throws {
        let scratch = try ScratchDirectory()
        let environment = try Environment.open(
            directory: scratch.environment, settings: Sample.settings(syncPolicy: .grouped))
        defer { environment.close() }
        var limits = GroupedWrites.Limits()
        limits.syncDelay = .seconds(3600)
        let syncs = Guarded(0)
        let writes = try GroupedWrites.start(environment, limits: limits, frame: nil, name: "trawl-store") {
            () throws(StoreError) in
            syncs.withLock { $0 += 1 }
            try environment.sync()
        }
        let committed = DispatchSemaphore(value: 0)
        let accepted = writes.submit { transaction throws(StoreError) in
            transaction.requestSync()
            try transaction.put(Sample.numbers, 1, [1])
        } completion: { _ in
            committed.signal()
        }
        #expect(accepted == .accepted(waiting: 1))
        committed.wait()
        #expect(syncs.withLock { $0 } == 0)
        writes.stop()
        #expect(syncs.withLock { $0 } == 1)
        #expect(try environment.get(1) == [1])
        #expect(environment.problem == nil)
    }

    @Test("what did not come to the disk at the end is told")
    func fails() throws {
        let scratch = try ScratchDirectory()
        let environment = try Environment.open(
            directory: scratch.environment, settings: Sample.settings(syncPolicy: .grouped))
        defer { environment.close() }
        let failure = StoreError.system(SystemError(errno: EIO, call: "fdatasync"))
        let writes = try GroupedWrites.start(environment, limits: .init(), frame: nil, name: "trawl-store") {
            () throws(StoreError) in
            throw failure
        }
        _ = writes.submit { transaction throws(StoreError) in
            transaction.requestSync()
            try transaction.put(Sample.numbers, 1, [1])
        } completion: { _ in
        }
        writes.stop()
        #expect(environment.problem == failure)
    }
}
