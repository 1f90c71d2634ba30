import Foundation
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("Verifying a cache that others use")
struct CacheVerifyTests {
    private let scratch = CacheScratch()

    private func open(_ budget: UInt64 = 1 << 30) throws -> CacheStore {
        var settings = CacheSettings()
        settings.budget = budget
        return try CacheStore.open(directory: scratch.cache, settings: settings)
    }

    @Test("verifying beside one that stores and evicts finds nothing to remove")
    func verifyBesideEviction() throws {
        let store = try open(3 << 20)
        defer { store.close() }
        // Bodies that come again, so that their files are removed and made anew.
        @Sendable func put(_ number: Int) {
            store.put(number, body: [UInt8](repeating: UInt8(number % 200), count: 20_000 + number % 200))
        }
        for number in 0..<200 { put(number) }
        let isOver = Guarded(false)
        let writer = Thread {
            var number = 200
            while !isOver.withLock({ $0 }) {
                put(number)
                number += 1
            }
        }
        writer.start()
        var looked: UInt64 = 0
        for _ in 0..<40 {
            let result = try store.verify()
            #expect(result.damagedRecords == 0 && result.damagedBlobs == 0)
            looked += result.blobs
        }
        isOver.withLock { $0 = true }
        waitUntil { writer.isFinished }
        #expect(looked > 1000)
        #expect(try store.verify().damagedRecords == 0)
    }

    @Test("verifying puts counts of blobs right, also beside others")
    func counts() throws {
        let store = try open()
        defer { store.close() }
        let bodies = (0..<3).map { [UInt8](repeating: UInt8($0), count: 20_000) }
        for number in 0..<30 { store.put(number, body: bodies[number % 3]) }
        let before = try store.statistics()
        var keys: [ContentDigest] = []
        try store.environment.read { (snapshot) throws(StoreError) in
            try snapshot.scan(CacheSchema.blobs, from: .empty) { key, _ in
                keys.append(ContentDigest(bytes: key))
                return true
            }
        }
        let missing = [UInt8](repeating: 5, count: 32).withUnsafeBytes { ContentDigest(bytes: $0) }
        _ = store.writeNow { [keys] (transaction, _) throws(StoreError) in
            try store.tables.put(BlobRow(references: 3, length: 20_000), of: keys[0], in: transaction)
            try keys[1].withBytes { (key) throws(StoreError) in _ = try transaction.delete(CacheSchema.blobs, key) }
            try store.tables.put(BlobRow(references: 9, length: 77), of: missing, in: transaction)
            return .removed(0)
        }
        #expect(try store.verify().damagedRecords == 0)
        #expect(try store.statistics() == before)
        for number in 0..<30 { #expect(store.found(number).count == 1) }
        for number in 0..<30 { _ = store.perform(.removeAll(digest(number))) }
        #expect(try store.statistics().blobBytes == 0)
    }
}
