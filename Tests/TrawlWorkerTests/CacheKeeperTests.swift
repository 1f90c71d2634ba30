import Foundation
import Testing
import TrawlPlatform
import TrawlStore

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
        for _ in 0..<20_000 where told.isEmpty {
            told = keeper.takeCommitted().filter { $0.commit == last }.map(\.isStored)
            MonotonicClock.sleep(for: .microseconds(500))
        }
        #expect(told == [true])
        #expect(try store.cache.statistics().records == 1)
        store.cache.close()
        #expect(keeper.change([], in: store) == nil)
    }
}
