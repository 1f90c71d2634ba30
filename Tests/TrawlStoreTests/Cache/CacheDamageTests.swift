import Glibc
import TestSupport
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("Damage in the cache")
struct CacheDamageTests {
    private let scratch = CacheScratch()

    private func open() throws -> CacheStore { try CacheStore.open(directory: scratch.cache) }

    /// Changes the bytes of a row behind the store's back.
    private func change(
        _ store: CacheStore, _ sequence: UInt64, in table: Table = CacheSchema.records,
        _ change: (inout [UInt8]) -> Void
    ) throws {
        try store.environment.write { (transaction) throws(StoreError) in
            guard let row = try transaction.get(table, sequence) else { return }
            var bytes = [UInt8](row)
            change(&bytes)
            try bytes.span.withUnsafeBytes { (bytes) throws(StoreError) in
                try transaction.put(table, sequence, bytes)
            }
        }
    }

    private func flip(_ path: String, at place: Int) {
        chmod(path, 0o600)
        let file = Glibc.open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        var byte: UInt8 = 0
        #expect(pread(file, &byte, 1, off_t(place)) == 1)
        byte ^= 0x10
        #expect(pwrite(file, &byte, 1, off_t(place)) == 1)
    }

    private func records(_ store: CacheStore) -> UInt64 { (try? store.statistics().records) ?? 0 }

    @Test("a record with a flipped bit is never served, and removes itself", arguments: 0..<30)
    func record(seed: UInt64) throws {
        let store = try open()
        defer { store.close() }
        var random = SeededGenerator(seed: seed)
        let (old, new) = (random.bytes(500), random.bytes(700))
        store.put(1, header: "old", body: old)
        let sequence = try #require(store.put(1, header: "new", body: new))
        try change(store, sequence) { bytes in
            let place = Int.random(in: 0..<bytes.count, using: &random)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        let found = store.found(1)
        #expect(found.filter { $0.body != nil }.map(\.body) == [old])
        waitUntil { records(store) == 1 }
        #expect(records(store) == 1)
        #expect(store.found(1).map(\.body) == [old])
    }

    @Test("a record whose body beside it is damaged, short or gone is not served, and removes itself", arguments: 0..<3)
    func bodyApart(kind: Int) throws {
        let store = try open()
        defer { store.close() }
        var random = SeededGenerator(seed: 3)
        let (old, new) = (random.bytes(4096), random.bytes(6000))
        store.put(1, header: "old", body: old)
        let sequence = try #require(store.put(1, header: "new", body: new))
        if kind == 2 {
            try store.environment.write { (transaction) throws(StoreError) in
                _ = try transaction.delete(CacheSchema.bodies, sequence)
            }
        } else {
            try change(store, sequence, in: CacheSchema.bodies) { bytes in
                if kind == 0 { bytes[1234] ^= 4 } else { bytes.removeLast() }
            }
        }
        #expect(store.found(1).map(\.body) == [nil, old])
        waitUntil { records(store) == 1 }
        #expect(store.found(1).map(\.body) == [old])
        #expect(try store.verify().damagedRecords == 0)
    }

    @Test("verifying removes bodies that belong to no record")
    func deadBodies() throws {
        let store = try open()
        defer { store.close() }
        store.put(1, body: [UInt8](repeating: 1, count: 3000))
        let dead = try #require(store.put(2, body: [UInt8](repeating: 2, count: 3000)))
        let last = try #require(store.put(3, body: [UInt8](repeating: 3, count: 3000)))
        try store.environment.write { (transaction) throws(StoreError) in
            try transaction.delete(CacheSchema.records, dead)
            try transaction.delete(CacheSchema.records, last)
            // Then the counters are counted again, and no sequence comes twice.
            try transaction.delete(CacheSchema.meta, CacheCounters.key)
        }
        let next = try #require(store.put(4, body: [UInt8](repeating: 4, count: 3000)))
        #expect(next > last)
        _ = try store.verify()
        let bodies = try store.environment.read { (snapshot) throws(StoreError) in
            try snapshot.statistics(CacheSchema.bodies).rows
        }
        #expect(bodies == 2)
        #expect(store.found(1).map(\.body) == [[UInt8](repeating: 1, count: 3000)])
    }

    @Test("a record under another's sequence is not served")
    func swapped() throws {
        let store = try open()
        defer { store.close() }
        let one = try #require(store.put(1, body: [1]))
        let two = try #require(store.put(2, body: [2]))
        var bytes: [UInt8] = []
        try change(store, one) { bytes = $0 }
        try change(store, two) { $0 = bytes }
        #expect(store.found(2) == [])
        #expect(store.found(1).map(\.body) == [[1]])
    }

    @Test("an index that leads to another key's record finds nothing there")
    func index() throws {
        let store = try open()
        defer { store.close() }
        store.put(1, body: [1])
        let two = try #require(store.put(2, body: [2]))
        var row = IndexRow()
        row.entries = [IndexRow.Entry(sequence: two, slot: 0), IndexRow.Entry(sequence: 99, slot: 1)]
        try store.environment.write { (transaction) throws(StoreError) in
            try digest(1).withBytes { (key) throws(StoreError) in
                try row.withBytes { (row) throws(StoreError) in try transaction.put(CacheSchema.index, key, row) }
            }
        }
        #expect(store.found(1) == [])
        waitUntil { store.read(digest(1)) { $0.count } == nil }
        #expect(store.read(digest(1)) { $0.count } == nil)
        #expect(store.found(2).map(\.body) == [[2]])
    }

    @Test("a damaged blob is not served, and what led to it goes", arguments: [false, true])
    func blob(isTruncated: Bool) throws {
        let store = try open()
        defer { store.close() }
        var random = SeededGenerator(seed: 2)
        let body = random.bytes(1_300_000)
        store.put(1, body: body)
        store.put(2, body: body)
        let path = scratch.path + "/" + (try #require(scratch.blobFiles.first))
        if isTruncated {
            chmod(path, 0o600)
            truncate(path, 700_000)
        } else {
            flip(path, at: 1_200_000)
        }
        let found = try #require(
            store.read(digest(1)) { candidates in
                candidates.record(at: 0).flatMap { record in
                    record.body().map { (record.use, $0) }
                }
            })
        guard case .blob(let reader) = found.1 else {
            Issue.record("no blob")
            return
        }
        #expect(throws: BlobError.damaged) { try reader.bytes() }
        store.reportDamage(of: reader, found.0)
        waitUntil { records(store) == 1 }
        #expect(store.found(1) == [])
        // The other record finds no file, and goes as well.
        #expect(store.found(2).map(\.body) == [nil])
        waitUntil { records(store) == 0 }
        // The same body can be stored again.
        store.put(1, body: body)
        #expect(store.found(1).map(\.body) == [body])
        #expect(try store.statistics().blobs == 1)
    }

    @Test(
        "what led to a damaged blob goes also where the file may not be removed, which is left to the next",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func keptBlob() throws {
        var store = try open()
        store.put(1, body: [UInt8](repeating: 5, count: 40_000))
        let path = try #require(store.blobPath(1))
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        let found = try #require(
            store.read(digest(1)) { candidates in
                candidates.record(at: 0).flatMap { record in
                    record.body().map { (record.use, $0) }
                }
            })
        guard case .blob(let reader) = found.1 else {
            Issue.record("no blob")
            return
        }
        flip(path, at: 20_000)
        #expect(throws: BlobError.damaged) { try reader.bytes() }
        #expect(chmod(directory, 0o500) == 0)
        defer { chmod(directory, 0o700) }
        store.reportDamage(of: reader, found.0)
        flush(store)
        #expect(store.found(1) == [])
        store.close()
        #expect(scratch.blobFiles.count == 1)
        #expect(scratch.files(in: "cache/storing").count == 1)
        #expect(chmod(directory, 0o700) == 0)
        store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        store.close()
        #expect(scratch.blobFiles == [])
    }

    @Test("a report of a damaged blob that comes late leaves the body alone that was stored since", arguments: 1...2)
    func lateReport(number: Int) throws {
        let store = try open()
        defer { store.close() }
        let body = [UInt8](repeating: 5, count: 40_000)
        store.put(1, body: body)
        let found = try #require(
            store.read(digest(1)) { candidates in
                candidates.record(at: 0).flatMap { record in
                    record.body().map { (record.use, $0) }
                }
            })
        guard case .blob(let reader) = found.1 else {
            Issue.record("no blob")
            return
        }
        flip(try #require(store.blobPath(1)), at: 20_000)
        #expect(throws: BlobError.damaged) { try reader.bytes() }
        // By another process, say, that has found the same.
        #expect(store.perform(.removeAll(digest(1))) == .removed(1))
        waitUntil { scratch.blobFiles.isEmpty }
        store.put(number, body: body)
        store.reportDamage(of: reader, found.0)
        flush(store)
        #expect(store.found(number).map(\.body) == [body])
        #expect(scratch.blobFiles.count == 1)
    }

    @Test("a report of a damaged record leaves one alone that is sound", arguments: [100, 5000, 40_000])
    func soundRecord(length: Int) throws {
        let store = try open()
        defer { store.close() }
        let body = [UInt8](repeating: 5, count: length)
        let sequence = try #require(store.put(1, body: body))
        store.noteDamage(CacheUse(digest: digest(1), sequence: sequence))
        flush(store)
        #expect(store.found(1).map(\.body) == [body])
    }

    /// Waits for the changes that were asked for.
    private func flush(_ store: CacheStore) { store.pending.withLock { $0.writes }?.flush() }

    @Test("a blob of the wrong length is replaced when its body comes again")
    func replaced() throws {
        let store = try open()
        defer { store.close() }
        let body = [UInt8](repeating: 6, count: 40_000)
        store.put(1, body: body)
        let path = scratch.path + "/" + (try #require(scratch.blobFiles.first))
        chmod(path, 0o600)
        truncate(path, 10)
        store.put(2, body: body)
        #expect(store.found(1).map(\.body) == [body])
        #expect(store.found(2).map(\.body) == [body])
    }

    @Test("verifying finds and removes every damaged record and blob, and no sound one")
    func verify() throws {
        let store = try open()
        defer { store.close() }
        var random = SeededGenerator(seed: 8)
        let bodies = (0..<60).map { random.bytes($0 % 3 == 0 ? 30_000 : 50 * $0) }
        let sequences = try (0..<60).map { try #require(store.put($0, body: bodies[$0])) }
        let damagedRecords = [4, 15, 27, 50]
        for number in damagedRecords {
            let table = number == 50 ? CacheSchema.bodies : CacheSchema.records
            try change(store, sequences[number], in: table) { $0[$0.count - 1] ^= 1 }
        }
        flip(try #require(store.blobPath(0)), at: 29_999)
        unlink(try #require(store.blobPath(21)))
        let result = try store.verify()
        // A damaged row of a blob is counted as a record only.
        #expect(result.damagedRecords == 6)
        #expect(result.damagedBlobs == 2)
        #expect(result.records == 60)
        #expect(try store.statistics().keys == 54)
        let left = (0..<60).filter { store.found($0).first?.body == bodies[$0] }
        #expect(left.count == 54)
        #expect(try store.verify().damagedRecords == 0)
        #expect(try store.statistics().records == 54)
    }

    @Test(
        "whatever bits flip in the environment's file, no wrong byte is served and storing goes on",
        arguments: 0..<(runsLongTests ? 500 : 16))
    func file(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bodies = (0..<120).map { random.bytes($0 % 20 == 0 ? 20_000 : 40 * $0) }
        var store = try open()
        for number in bodies.indices { store.put(number, body: bodies[number]) }
        store.close()
        let path = scratch.cache + "/data.mdb"
        var status = stat()
        #expect(stat(path, &status) == 0)
        for _ in 0..<(1 << Int.random(in: 0..<8, using: &random)) {
            flip(path, at: Int.random(in: 0..<Int(status.st_size), using: &random))
        }
        store = try open()
        defer { store.close() }
        for _ in 0..<2 {
            for number in bodies.indices {
                for found in store.found(number) { #expect(found.body == nil || found.body == bodies[number]) }
            }
            for number in 0..<30 { store.put(number, body: bodies[number]) }
        }
        _ = try? store.verify()
        #expect(store.put(200, body: [7]) != nil)
        #expect(store.found(200).map(\.body) == [[7]])
    }

    @Test("lost counters are counted again")
    func counters() throws {
        let store = try open()
        defer { store.close() }
        store.put(1, body: [UInt8](repeating: 1, count: 30_000))
        let last = try #require(store.put(2, body: [2]))
        try store.environment.write { (transaction) throws(StoreError) in
            _ = try transaction.delete(CacheSchema.meta, CacheCounters.key)
        }
        let next = try #require(store.put(3, body: [3]))
        #expect(next > last)
        #expect(try store.statistics().blobBytes == 30_000)
    }

    @Test("eviction ends, whatever the tables claim", arguments: 0..<20)
    func nonsense(seed: UInt64) throws {
        var settings = CacheSettings()
        settings.budget = 300_000
        let store = try CacheStore.open(directory: scratch.cache, settings: settings)
        defer { store.close() }
        var random = SeededGenerator(seed: seed)
        for number in 0..<100 { store.put(number, body: [UInt8](repeating: 1, count: 100)) }
        for number in 0..<50 { store.use(number) }
        for number in 100..<180 { store.put(number, body: [UInt8](repeating: 1, count: 3000)) }
        try store.environment.write { (transaction) throws(StoreError) in
            for _ in 0..<30 {
                let number = Int.random(in: 0..<100, using: &random)
                let bytes = random.bytes(Int.random(in: 0..<64, using: &random))
                try bytes.span.withUnsafeBytes { (bytes) throws(StoreError) in
                    switch Int.random(in: 0..<5, using: &random) {
                    case 4: try transaction.put(CacheSchema.bodies, UInt64(number + 90), bytes)
                    case 0: try transaction.put(CacheSchema.records, UInt64(number), bytes)
                    case 1:
                        try digest(number).withBytes { (key) throws(StoreError) in
                            try transaction.put(CacheSchema.index, key, bytes)
                        }
                    case 2: try transaction.put(CacheSchema.recency, UInt64(number + 100), bytes)
                    default: try transaction.put(CacheSchema.meta, CacheCounters.key, bytes)
                    }
                }
            }
        }
        for number in 100..<400 { store.put(number, body: [UInt8](repeating: 1, count: 3000)) }
        #expect(try store.statistics().bytes <= settings.budget)
        for number in 0..<400 { _ = store.found(number) }
        _ = try store.verify()
        #expect(store.put(1000, body: [1]) != nil)
        #expect(store.found(1000).map(\.body) == [[1]])
    }
}
