import TestSupport
import Testing

@testable import TrawlStore

/// What the store is to keep, told by a list: the least recently used first.
private struct Model {
    var order: [Int] = []

    mutating func use(_ number: Int) {
        guard let place = order.firstIndex(of: number) else { return }
        order.append(order.remove(at: place))
    }

    mutating func put(_ number: Int) {
        order.removeAll { $0 == number }
        order.append(number)
    }
}

@Suite("Eviction, ASI-CACHE-13")
struct EvictionTests {
    private let scratch = CacheScratch()

    private func open(_ budget: UInt64) throws -> CacheStore {
        var settings = CacheSettings()
        settings.budget = budget
        return try CacheStore.open(directory: scratch.cache, settings: settings)
    }

    private func present(_ store: CacheStore, of count: Int) -> [Int] {
        (0..<count).filter { number in store.read(digest(number)) { $0.count } != nil }
    }

    @Test("what is left is always what was used last, over seeded uses, stores and restarts", arguments: 0..<4)
    func exact(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let budget: UInt64 = 600_000
        var store = try open(budget)
        defer { store.close() }
        var model = Model()
        let numbers = 400
        for step in 0..<2000 {
            let number = Int.random(in: 0..<numbers, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                let replaced = store.found(number).map(\.sequence)
                let length = Int.random(in: 0..<8, using: &random) == 0 ? 20_000 + number : number * 10
                try #require(store.put(number, body: [UInt8](repeating: 1, count: length), replacing: replaced) != nil)
                model.put(number)
            case 8..<19:
                if store.use(number) { model.use(number) }
            default:
                if step % 5 == 0 {
                    store.close()
                    store = try open(budget)
                } else {
                    // Another look-up without a use changes nothing.
                    _ = store.found(number)
                }
            }
            if step % 50 == 49 || step == 1999 {
                // Whatever was evicted, it was the front of the list.
                let left = Set(present(store, of: numbers))
                let evicted = model.order.prefix { !left.contains($0) }
                model.order.removeFirst(evicted.count)
                try #require(Set(model.order) == left, "seed \(seed), step \(step)")
                let statistics = try store.statistics()
                try #require(statistics.bytes <= budget)
                try #require(statistics.bytes > budget / 2 || step < 400)
            }
        }
        let blobs = try store.statistics().blobs
        #expect(try store.verify() == CacheVerification(records: UInt64(model.order.count), blobs: blobs))
    }

    @Test("records never used go in the order they were stored")
    func unused() throws {
        let store = try open(400_000)
        defer { store.close() }
        for number in 0..<300 { store.put(number, body: [UInt8](repeating: 1, count: 4096)) }
        let left = present(store, of: 300)
        #expect(left == Array((300 - left.count)..<300))
        #expect(left.count > 20)
    }

    @Test("a record in use outlives all that is not, and the uses of another process count")
    func used() throws {
        let store = try open(400_000)
        let other = try open(400_000)
        defer {
            other.close()
            store.close()
        }
        store.put(0, body: [1])
        for number in 1..<300 {
            store.put(number, body: [UInt8](repeating: 1, count: 4096))
            #expect(other.use(0))
        }
        #expect(present(store, of: 300).first == 0)
    }

    @Test("blobs count, and go with their records")
    func blobs() throws {
        let store = try open(2_000_000)
        for number in 0..<60 { store.put(number, body: [UInt8](repeating: UInt8(number), count: 200_000)) }
        let left = present(store, of: 60)
        #expect((7...9).contains(left.count))
        #expect(left == Array((60 - left.count)..<60))
        store.close()
        #expect(scratch.blobFiles.count == left.count)
    }

    @Test("a smaller budget is reached, and a hit does not write (ULS-CACHE-01)")
    func smaller() throws {
        var store = try open(1 << 20)
        for number in 0..<200 { store.put(number, body: [UInt8](repeating: 1, count: 4000)) }
        store.close()
        store = try open(1 << 18)
        defer { store.close() }
        let before = try store.environment.read { (snapshot) throws(StoreError) in snapshot.identifier }
        for number in 0..<200 { store.use(number) }
        #expect(try store.environment.read { (snapshot) throws(StoreError) in snapshot.identifier } == before)
        guard case .removed(let count) = store.prune() else {
            Issue.record("not pruned")
            return
        }
        #expect(count > 50)
        #expect(try store.statistics().bytes <= 1 << 18)
    }

    @Test("a budget of nothing keeps nothing and harms nobody")
    func none() throws {
        let store = try open(0)
        defer { store.close() }
        #expect(store.put(1, body: [1]) == nil)
        #expect(store.put(1, body: []) != nil)
        #expect(store.found(1) == [])
    }

    @Test("which record it is does not depend on where its use is noted")
    func uses() {
        let one = CacheUse(digest: digest(1), sequence: 7, slot: 1)
        #expect(one == CacheUse(digest: digest(1), sequence: 7, slot: 2))
        #expect(Set([one]).contains(CacheUse(digest: digest(1), sequence: 7)))
        #expect(one != CacheUse(digest: digest(1), sequence: 8, slot: 1))
        #expect(one != CacheUse(digest: digest(2), sequence: 7, slot: 1))
    }
}
