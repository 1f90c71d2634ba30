import Foundation
import Testing
import TrawlPlatform
import TrawlStore
import TrawlTransfer

@testable import TrawlWorker

@Suite("Commits the worker waits for")
struct CacheKeeperTests {
    @Test("a response that is stored after a long removal is told when both are done")
    func both() throws {
        let directory = NSTemporaryDirectory() + "trawl-keeper-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try ResponseStore.open(directory: directory, settings: CacheSettings())
        func record(_ number: UInt64) -> NewRecord {
            NewRecord(digest: CacheDigest(7, number), header: [1], body: .inline([1]), stored: 1)
        }
        for number in 0..<3000 as Range<UInt64> { store.cache.submit(.append(record(number)), .soon) { _ in } }
        let keeper = CacheKeeper(commits: CommitLog())
        let change = keeper.change(
            [.removeMatching(CacheFilter(origin: 7)), .removeAll(CacheDigest(8, 8))], in: store)
        let stored = keeper.write(.append(record(5000)), to: store)
        let last = keeper.commit(of: stored, after: change)
        var told: [Bool] = []
        for _ in 0..<120_000 where told.isEmpty {
            told = keeper.takeCommitted().filter { $0.commit == last }.map(\.isStored)
            MonotonicClock.sleep(for: .microseconds(500))
        }
        #expect(told == [true])
        #expect(try store.cache.statistics().records == 1)
        store.cache.close()
        #expect(keeper.change([], in: store) == nil)
    }

    @Test("each turn takes what was committed, whether an end waits for it or not, and the next commit wakes again")
    func eachTurn() throws {
        try #require(GlobalLibcurl.isReady)
        let directory = NSTemporaryDirectory() + "trawl-keeper-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try ResponseStore.open(directory: directory, settings: CacheSettings())
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 1)
        let commits = CommitLog()
        let keeper = CacheKeeper(commits: commits)
        let loop = try #require(
            TransferLoop(
                leases: 1, roots: [], segment: segment, slot: 0, output: TransferOutput(), keeper: keeper))
        let wakes = Guarded(0)
        commits.onCommit { wakes.withLock { $0 += 1 } }
        for round in 1...3 {
            // What the head of an answer to POST asks for, long before the end of its body.
            let change = keeper.change([.removeAll(CacheDigest(8, 8))], in: store)
            #expect(change != nil && keeper.commit(of: change) == change)
            // What comes later is told later.
            let isDone = DispatchSemaphore(value: 0)
            store.cache.submit(.removeAll(CacheDigest(9, 9))) { _ in isDone.signal() }
            isDone.wait()
            loop.turn()
            #expect(keeper.commit(of: change) == nil)
            let woken = wakes.withLock { $0 }
            #expect(woken == round)
        }
        store.cache.close()
    }

    @Test("commits about users are none of the cache's, and leave its count of what it waits for alone")
    func foreign() throws {
        let directory = NSTemporaryDirectory() + "trawl-keeper-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try ResponseStore.open(directory: directory, settings: CacheSettings())
        let commits = CommitLog()
        let keeper = CacheKeeper(commits: commits)
        let record = NewRecord(digest: CacheDigest(7, 7), header: [1], body: .inline([1]), stored: 1)
        var numbers = [keeper.write(.append(record), to: store)]
        if let change = keeper.change([.removeAll(CacheDigest(8, 8)), .removeAll(CacheDigest(9, 9))], in: store) {
            numbers.append(change)
        }
        #expect(keeper.waiting == 2)
        for _ in 0..<100 {
            let number = commits.next()
            commits.add(number, isStored: true)
            numbers.append(number)
        }
        // All that was accepted is told before it is closed.
        store.cache.close()
        #expect(keeper.takeCommitted().map(\.commit).sorted() == numbers)
        #expect(keeper.waiting == 0)
        #expect(keeper.takeCommitted().isEmpty)
    }

    @Test(
        "a write that is alone is committed at once; of many, when most wait: a third where it is about a validation",
        arguments: [(1, false), (7, false), (8, true), (52, true)])
    func haste(busy: Int, waits: Bool) {
        let record = NewRecord(digest: CacheDigest(7, 7), header: [1], body: .inline([1]), stored: 1)
        let storing = CacheKeeper.haste(of: .append(record), busy: busy)
        #expect(storing.urgency == (waits ? .soon : .now))
        #expect(storing.enough == busy * 3 / 4)
        let use = CacheUse(digest: CacheDigest(7, 7), sequence: 1)
        let validation = CacheKeeper.haste(of: .replaceHeader(use, header: [1], stored: 1), busy: busy)
        #expect(validation.urgency == storing.urgency)
        #expect(validation.enough == busy / 3)
    }
}
