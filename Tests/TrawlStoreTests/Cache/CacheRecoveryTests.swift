import Foundation
import Glibc
import Testing

@testable import TrawlStore

@Suite("A cache whose files say what cannot be")
struct CacheRecoveryTests {
    private let scratch = CacheScratch()

    private func open(boot: String? = nil) throws -> CacheStore {
        var settings = CacheSettings()
        settings.bootIdentity = boot
        return try CacheStore.open(directory: scratch.cache, settings: settings)
    }

    /// Changes the closed data file without a trace in its times, so that nothing tells that it is not the one that was
    /// checked.
    private func change(_ body: (inout Data) throws -> Void) throws {
        let path = scratch.cache + "/data.mdb"
        var facts = stat()
        #expect(stat(path, &facts) == 0)
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        let before = data
        try body(&data)
        let file = Glibc.open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        for offset in data.indices where data[offset] != before[offset] {
            var byte = data[offset]
            #expect(pwrite(file, &byte, 1, off_t(offset)) == 1)
        }
        let times = [facts.st_atim, facts.st_mtim]
        #expect(futimens(file, times) == 0)
    }

    private func fill(_ count: Int = 40) throws {
        let store = try open()
        for round in 0..<3 {
            for number in 0..<count { store.put(number, body: [UInt8](repeating: UInt8(round), count: 3000)) }
        }
        store.close()
    }

    // Rows, pages of branches, of leaves and of long values; a bit that makes any sum overflow, and one that does not.
    @Test(
        "a table that counts more than the file can hold is damaged, and the cache is made anew",
        arguments: [8, 16, 24, 32], [33, 52, 62])
    func counts(offset: Int, bit: Int) throws {
        try fill()
        try change { data in
            let leaf = Int(data.word(data.latestMeta() + 128)) * 4096
            let name = try #require(data.range(of: Data("records".utf8), in: leaf..<leaf + 4096))
            let place = name.upperBound + offset
            data.setWord(place, data.word(place) ^ 1 << UInt64(bit))
        }
        let store = try open()
        defer { store.close() }
        #expect(throws: StoreError.self) { try store.statistics() }
        #expect(store.found(1) == [])
        _ = store.prune()
        #expect(store.put(1, body: [1]) != nil)
        #expect(store.found(1).map(\.body) == [[1]])
        #expect(try store.statistics().records == 1)
    }

    @Test("verifying says that all is lost when the pages contradict each other", arguments: ["counts", "free pages"])
    func verifies(kind: String) throws {
        try fill()
        try change { data in
            switch kind {
            case "counts":
                let leaf = Int(data.word(data.latestMeta() + 128)) * 4096
                let name = try #require(data.range(of: Data("index".utf8), in: leaf..<leaf + 4096))
                data.setWord(name.upperBound + 32, data.word(name.upperBound + 32) ^ 1)
            default:
                let list = data.freeLists()
                data[list + 3] = 0x40
            }
        }
        let store = try open()
        let result = try store.verify()
        #expect(result.damagedRecords == 120)
        #expect(try store.statistics().records == 0)
        #expect(try store.verify() == CacheVerification())
        store.close()
    }

    // What is left of the file; -1 zeroes both meta pages.
    @Test(
        "verifying says once that all is lost, also when opening has made the files anew",
        arguments: [0, 4096, 8192, 20_000, -1])
    func lostAtOpening(length: Int) throws {
        try fill()
        if length < 0 {
            try change { data in data.replaceSubrange(0..<8192, with: Data(count: 8192)) }
        } else {
            #expect(truncate(scratch.cache + "/data.mdb", off_t(length)) == 0)
        }
        let store = try open()
        defer { store.close() }
        #expect(store.hasLostEverything)
        store.put(1, body: [1])
        #expect(try store.verify() == CacheVerification(records: 1, damagedRecords: 1))
        #expect(!store.hasLostEverything)
        #expect(try store.verify() == CacheVerification(records: 1))
    }

    @Test("a cache that is new, or was removed, has lost nothing")
    func lostNothing() throws {
        for _ in 0..<2 {
            let store = try open()
            #expect(!store.hasLostEverything)
            store.put(1, body: [1])
            store.close()
            CacheScratch.remove(scratch.cache)
        }
    }

    @Test("after a start of the machine no living record loses its slot, and sequences go on")
    func restart() throws {
        var store = try open(boot: "first")
        let first = try #require(store.put(1, body: [1]))
        let last = try #require(store.put(2, body: [2]))
        _ = store.perform(.removeAll(digest(2)))
        store.use(1)
        store.close()
        store = try open(boot: "second")
        defer { store.close() }
        let next = try #require(store.put(3, body: [3]))
        #expect(next > last)
        let slots = try [1, 3].map { number in try #require(store.slot(of: number)) }
        #expect(slots[0] != slots[1])
        #expect(store.clock.last(slots[0]) > first)
    }

    @Test("a clock that shows nonsense is set back, and stores go on", arguments: [1, 9, 1 << 40, 1 << 63] as [UInt64])
    func clock(beforeEnd: UInt64) throws {
        let store = try open()
        defer { store.close() }
        let first = try #require(store.put(1, body: [1]))
        let file = Glibc.open(scratch.cache + "/uses", O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        var now = 0 &- beforeEnd
        #expect(pwrite(file, &now, 8, 16) == 8)
        for number in 2..<30 { #expect(store.put(number, body: [1]) == first + UInt64(number) - 1) }
        #expect(try store.verify().damagedRecords == 0)
    }

    @Test("a row under the last number of all is removed, and does not end what walks over it")
    func lastKey() throws {
        let store = try open()
        defer { store.close() }
        store.put(1, body: [1])
        let last = UInt64.max
        func plant() {
            _ = store.writeNow { (transaction, _) throws(StoreError) in
                for table in [CacheSchema.records, CacheSchema.bodies, CacheSchema.recency] {
                    try transaction.put(table, last, count: 24) { $0.initializeMemory(as: UInt8.self, repeating: 7) }
                }
                return .removed(0)
            }
        }
        plant()
        #expect(store.put(2, body: [UInt8](repeating: 2, count: 5000)) != nil)
        plant()
        _ = try store.verify()
        plant()
        _ = store.perform(.removeMatching(CacheFilter(storageClass: .permanent)))
        plant()
        _ = try store.environment.write { (transaction) throws(StoreError) in
            try transaction.delete(CacheSchema.meta, CacheCounters.key)
        }
        #expect(store.put(2, body: [2]) ?? .max < 100)
        #expect(store.found(2).map(\.body) == [[2]])
    }

    @Test("when the directory is removed beneath a store, long bodies are stored again, and nobody's records removed")
    func removedDirectory() throws {
        let store = try open()
        defer { store.close() }
        let body = [UInt8](repeating: 3, count: 50_000)
        #expect(store.put(1, body: body) != nil)
        CacheScratch.remove(scratch.cache)
        #expect(store.put(2, body: body) != nil)
        #expect(store.found(2).map(\.body) == [body])
        #expect(scratch.blobFiles.count == 1)
        // Another one in its place, with what others stored there.
        let other = CacheScratch()
        let theirs = try CacheStore.open(directory: other.cache)
        #expect(theirs.put(3, body: body) != nil)
        theirs.close()
        // The store's own thread may make it anew between the two.
        var isReplaced = false
        for _ in 0..<1000 where !isReplaced {
            CacheScratch.remove(scratch.cache)
            isReplaced = rename(other.cache, scratch.cache) == 0
        }
        #expect(isReplaced)
        _ = store.perform(.removeAll(digest(100)))
        #expect(store.found(3).map(\.body) == [body])
        #expect(store.put(4, body: body) != nil)
        #expect(try store.verify() == CacheVerification(records: 2, blobs: 1))
    }

    @Test("when the whole store is removed beneath it, short and long bodies are stored again", arguments: [1, 50_000])
    func removedStore(length: Int) throws {
        let above = scratch.path + "/store"
        let store = try CacheStore.open(directory: above + "/cache")
        defer { store.close() }
        let body = [UInt8](repeating: 3, count: length)
        #expect(store.put(1, body: body) != nil)
        CacheScratch.remove(above)
        #expect(store.put(2, body: body) != nil)
        #expect(store.found(1) == [])
        #expect(store.found(2).map(\.body) == [body])
        #expect(store.problem == nil)
        #expect(try store.verify().damagedRecords == 0)
        // For those who come later, too.
        let second = try CacheStore.open(directory: above + "/cache")
        defer { second.close() }
        #expect(second.found(2).map(\.body) == [body])
    }

    @Test("when a file is in the store's place there is nothing, and why is known")
    func fileInPlace() throws {
        let above = scratch.path + "/store"
        let store = try CacheStore.open(directory: above + "/cache")
        defer { store.close() }
        #expect(store.put(1, body: [1]) != nil)
        CacheScratch.remove(above)
        close(Glibc.open(above, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        #expect(store.put(2, body: [1]) == nil)
        #expect(store.found(1) == [])
        let reason = "part of the path is no directory"
        #expect(store.problem == .unusable(path: above + "/cache", reason: reason))
    }

    @Test("nothing is left of what a process was making when it was killed")
    func parts() throws {
        let store = try open()
        defer { store.close() }
        #expect(store.put(1, body: [UInt8](repeating: 3, count: 50_000)) != nil)
        #expect(!scratch.files(in: "cache").contains { $0.contains(".part") })
        let part = scratch.cache + "/uses.123.part"
        close(Glibc.open(part, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        _ = store.prune()
        // It may be about to get its name.
        #expect(access(part, F_OK) == 0)
    }

    @Test("one transaction evicts only so many, however far the budget is passed")
    func evictionBound() throws {
        var store = try open()
        func append(_ numbers: Range<Int>) {
            let store = store
            let outcome = store.writeNow { (transaction, effects) throws(StoreError) in
                for number in numbers {
                    let record = NewRecord(digest: digest(number), header: [1], body: .inline([]), stored: 1)
                    _ = try store.tables.append(record, in: transaction, &effects)
                }
                return .removed(0)
            }
            #expect(outcome == .removed(0))
        }
        append(0..<6000)
        store.close()
        var settings = CacheSettings()
        settings.budget = 1 << 17
        store = try CacheStore.open(directory: scratch.cache, settings: settings)
        defer { store.close() }
        append(6000..<6064)
        let left = try store.statistics().records
        #expect(left > 1500 && left < 6064)
        _ = store.perform(.evict)
        #expect(try store.statistics().bytes <= 1 << 17)
    }

    @Test("a file stays while the removal of its last record is not committed")
    func uncommitted() throws {
        let store = try open()
        defer { store.close() }
        store.put(1, body: [UInt8](repeating: 1, count: 20_000))
        let outcome = store.writeNow { (transaction, effects) throws(StoreError) in
            _ = try store.tables.removeAll(digest(1), in: transaction, &effects)
            var walk = BlobWalk()
            while walk.advance(in: store.blobs) { _ = try store.removeOrphans(in: transaction, among: walk.part) }
            throw .abandoned
        }
        #expect(outcome == .notDone(.failed(.abandoned)))
        #expect(store.found(1).map(\.body) == [[UInt8](repeating: 1, count: 20_000)])
        _ = store.perform(.removeAll(digest(1)))
        waitUntil { scratch.blobFiles.isEmpty }
        #expect(scratch.blobFiles == [])
    }
}

extension CacheStore {
    /// The slot of the newest record of a number.
    fileprivate func slot(of number: Int) -> UInt64? {
        read(digest(number)) { candidates in candidates.record(at: 0)?.use.slot }
    }
}
