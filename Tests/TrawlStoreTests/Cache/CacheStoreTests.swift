import Glibc
import TestSupport
import Testing
import TrawlHTTP
import TrawlPlatform

@testable import TrawlStore

@Suite("The cache store")
struct CacheStoreTests {
    private let scratch = CacheScratch()

    private func open(_ change: (inout CacheSettings) -> Void = { _ in }) throws -> CacheStore {
        var settings = CacheSettings()
        change(&settings)
        return try CacheStore.open(directory: scratch.cache, settings: settings)
    }

    @Test(
        "what was stored is found, in a record, beside it or in a blob",
        arguments: [0, 1, 1500, 3000, 4096, 16384, 16385, 3_000_000])
    func stored(length: Int) throws {
        let store = try open()
        defer { store.close() }
        var random = SeededGenerator(seed: 1)
        let body = random.bytes(length)
        let sequence = try #require(store.put(1, header: "head", body: body))
        let record = FoundRecord(sequence: sequence, header: "head", storageClass: .permanent, body: body)
        #expect(store.found(1) == [record])
        #expect(store.found(2) == [])
        #expect(scratch.blobFiles.count == (length > 16384 ? 1 : 0))
    }

    @Test("it is there after the store was closed and opened again")
    func reopened() throws {
        var store = try open()
        store.put(1, body: [1, 2, 3])
        store.put(2, body: [UInt8](repeating: 9, count: 50_000))
        store.close()
        store = try open()
        defer { store.close() }
        #expect(store.found(1).map(\.body) == [[1, 2, 3]])
        #expect(store.found(2).map(\.body) == [[UInt8](repeating: 9, count: 50_000)])
    }

    @Test("variants of one key are found newest first, and 32 of them are kept")
    func variants() throws {
        let store = try open()
        defer { store.close() }
        let sequences = (0..<40).compactMap { store.put(1, header: "\($0)", body: [UInt8($0)]) }
        #expect(sequences.count == 40)
        #expect(store.found(1).map(\.header) == (8..<40).reversed().map { "\($0)" })
        #expect(try store.statistics().records == 32)
        #expect(try store.statistics().keys == 1)
    }

    @Test("of variants with long heads the newest are kept that have 256 KiB together, or one that is longer")
    func longVariants() throws {
        let store = try open()
        defer { store.close() }
        func head(_ number: Int, _ length: Int) -> String { "\(number) " + String(repeating: "x", count: length) }
        for number in 0..<12 { store.put(1, header: head(number, 60_000), body: [1]) }
        #expect(store.found(1).map { $0.header.prefix(2) } == ["11", "10", "9 ", "8 "])
        store.put(1, header: head(12, 300_000), body: [UInt8](repeating: 2, count: 20_000))
        #expect(store.found(1).map { $0.header.prefix(2) } == ["12"])
        store.put(1, header: "13", body: [1])
        #expect(store.found(1).map { $0.header.prefix(2) } == ["13"])
        let statistics = try store.statistics()
        #expect(statistics.records == 1 && statistics.blobs == 0)
        #expect(try store.verify().damagedRecords == 0)
    }

    @Test("a head that becomes long leaves no room for the oldest of the others")
    func grownVariant() throws {
        let store = try open()
        defer { store.close() }
        let first = try #require(store.put(1, header: "first", body: [1]))
        for number in 0..<4 {
            store.put(1, header: "\(number)" + String(repeating: "x", count: 60_000), body: [1])
        }
        let long = Array(repeating: UInt8(ascii: "y"), count: 100_000)
        let use = CacheUse(digest: digest(1), sequence: first)
        #expect(store.perform(.replaceHeader(use, header: long, stored: 2)) == .stored(first))
        #expect(store.found(1).map { $0.header.prefix(1) } == ["3", "2", "y"])
        #expect(try store.statistics().records == 3)
        #expect(try store.verify().damagedRecords == 0)
    }

    @Test("a record takes the place of those it replaces, and of no others")
    func replaces() throws {
        let store = try open()
        defer { store.close() }
        let one = try #require(store.put(1, header: "a", body: [1]))
        store.put(1, header: "b", body: [UInt8](repeating: 2, count: 20_000))
        let other = try #require(store.put(2, header: "c", body: [3]))
        store.put(1, header: "d", body: [4], replacing: [one, other, 999])
        #expect(store.found(1).map(\.header) == ["d", "b"])
        #expect(store.found(2).map(\.header) == ["c"])
    }

    @Test("what was asked for before an answer that made its key invalid is not stored, and its body goes")
    func overtaken() throws {
        let store = try open()
        defer { store.close() }
        let now = UInt64(WallClock.now().seconds) * 1000
        func put(_ number: Int, asked: UInt64?) throws -> CacheOutcome {
            let body = try #require(spooled([UInt8](repeating: 1, count: 20_000), store))
            return store.perform(
                .append(NewRecord(digest: digest(number), header: [1], body: body, stored: now, asked: asked)))
        }
        #expect(store.perform(.removeAll(digest(1), answered: now)) == .removed(0))
        let before = try put(1, asked: now - 1)
        #expect(before == .notDone(.overtaken))
        // The clock was set back in between.
        let ahead = try put(1, asked: now + 3_600_000)
        #expect(ahead == .notDone(.overtaken))
        #expect(store.found(1).isEmpty && scratch.blobFiles.isEmpty)
        for (number, asked) in [(1, now), (1, nil), (2, now - 1)] as [(Int, UInt64?)] {
            guard case .stored = try put(number, asked: asked) else {
                Issue.record("\(number) was not stored")
                continue
            }
        }
        // By hand, or by a clock that is wrong.
        _ = store.perform(.removeAll(digest(3)))
        _ = store.perform(.removeAll(digest(4), answered: now + 3_600_000))
        for number in [3, 4] {
            guard case .stored = try put(number, asked: now - 1) else {
                Issue.record("\(number) was not stored")
                continue
            }
        }
        #expect(scratch.blobFiles.count == 1)
    }

    @Test("what is stored and newer stays as it is, without the one that came last")
    func newerStays() throws {
        let store = try open()
        defer { store.close() }
        let sequence = try #require(store.put(1, header: "newer", body: [1], stored: 7))
        let body = try #require(spooled([UInt8](repeating: 2, count: 20_000), store))
        let record = NewRecord(digest: digest(1), header: [1], body: body, stored: 5) { _ in .prevails(header: nil) }
        #expect(store.perform(.append(record)) == .stored(sequence))
        #expect(
            store.found(1) == [FoundRecord(sequence: sequence, header: "newer", storageClass: .permanent, body: [1])])
        #expect(scratch.blobFiles.isEmpty)
        #expect(try store.statistics().records == 1)
    }

    @Test("what a new record replaces, or what is better, is decided by headers while it is stored")
    func judged() throws {
        let store = try open()
        defer { store.close() }
        func put(_ header: String, body: [UInt8] = [1]) throws -> CacheOutcome {
            let body = try #require(spooled(body, store))
            return store.perform(
                .append(
                    NewRecord(digest: digest(1), header: Array(header.utf8), body: body, stored: 1) { old in
                        if old.elementsEqual("best".utf8) { return .prevails(header: Array("fresh".utf8)) }
                        return old.first == header.utf8.first ? .goes : .stays
                    }))
        }
        for (header, left) in [("a1", ["a1"]), ("b1", ["b1", "a1"]), ("a2", ["a2", "b1"]), ("best", ["best", "a2"])] {
            guard case .stored = try put(header) else {
                Issue.record("\(header) was not stored")
                return
            }
            #expect(store.found(1).map(\.header) == left)
        }
        // What holds it already gets the header that the judgement gives, and stays in its place.
        guard case .stored = try put("c", body: [UInt8](repeating: 1, count: 20_000)) else {
            Issue.record("c has freshened nothing")
            return
        }
        #expect(store.found(1).map(\.header) == ["fresh", "a2"])
        #expect(store.found(1).first?.body == [1])
        let statistics = try store.statistics()
        #expect(statistics.records == 2 && statistics.keys == 1 && statistics.blobs == 0)
        #expect(scratch.blobFiles.isEmpty)
        #expect(try store.verify().damagedRecords == 0)
    }

    @Test("another header, the same body and the same place", arguments: [100, 4096, 20_000])
    func header(length: Int) throws {
        let store = try open()
        defer { store.close() }
        let body = [UInt8](repeating: 5, count: length)
        let session = SessionID.make()
        let sequence = try #require(store.put(1, header: "old", body: body, class: .session(session)))
        store.put(1, header: "variant", body: [1])
        let use = CacheUse(digest: digest(1), sequence: sequence)
        for (header, stored) in [("new", UInt64(7)), ("newer, and longer by far", 8)] {
            #expect(store.perform(.replaceHeader(use, header: Array(header.utf8), stored: stored)) == .stored(sequence))
            #expect(store.found(1).map(\.header) == ["variant", header])
            #expect(store.found(1).last?.body == body)
            #expect(store.found(1).last?.storageClass == .session(session))
            #expect(try store.list(after: 0).map(\.stored) == [stored, 1])
        }
        #expect(try store.statistics().blobs == (length > 16384 ? 1 : 0))
        #expect(try store.statistics().sessionRecords == 1)
        #expect(try store.verify().damagedRecords == 0)
        // Once it is gone it does not come back.
        #expect(store.perform(.remove(use)) == .removed(1))
        #expect(store.perform(.replaceHeader(use, header: [], stored: 9)) == .notDone(.gone))
        #expect(store.found(1).map(\.header) == ["variant"])
    }

    @Test("another header writes no body again")
    func headerPages() throws {
        let store = try open()
        defer { store.close() }
        let body = [UInt8](repeating: 5, count: 16_000)
        var uses: [CacheUse] = []
        for number in 0..<50 {
            let sequence = try #require(store.put(number, header: "a header of some length", body: body))
            uses.append(CacheUse(digest: digest(number), sequence: sequence))
        }
        let before = try store.environment.information().filePages
        for round in 0..<20 {
            for use in uses {
                let header = Array("header \(round) of some length".utf8)
                #expect(store.perform(.replaceHeader(use, header: header, stored: 2)) == .stored(use.sequence))
            }
        }
        #expect(try store.environment.information().filePages <= before + 20)
    }

    @Test("a changed header counts as a use: another record is evicted")
    func headerUse() throws {
        let store = try open { $0.budget = 400_000 }
        defer { store.close() }
        let body = [UInt8](repeating: 5, count: 8000)
        for number in 0..<20 { store.put(number, body: body) }
        let use = try #require(store.read(digest(0)) { $0.record(at: 0)?.use })
        #expect(store.perform(.replaceHeader(use, header: [1], stored: 2)) == .stored(use.sequence))
        var number = 20
        while store.read(digest(1), { $0.count }) != nil, number < 200 {
            store.put(number, body: body)
            number += 1
        }
        #expect(number < 200)
        #expect(store.read(digest(0)) { $0.count } == 1)
    }

    @Test("one body of several records is one file, gone with the last of them")
    func shared() throws {
        let store = try open()
        let body = [UInt8](repeating: 8, count: 100_000)
        for number in 0..<3 { store.put(number, body: body) }
        #expect(scratch.blobFiles.count == 1)
        #expect(try store.statistics().blobBytes == 100_000)
        #expect(store.perform(.removeAll(digest(0))) == .removed(1))
        #expect(store.perform(.removeAll(digest(1))) == .removed(1))
        #expect(store.found(2).first?.body == body)
        #expect(store.perform(.removeAll(digest(2))) == .removed(1))
        #expect(try store.statistics().blobBytes == 0)
        store.close()
        #expect(scratch.blobFiles == [])
    }

    @Test("an open body is read to its end though its record is removed (ASI-CACHE-14)")
    func openReader() throws {
        let store = try open()
        var random = SeededGenerator(seed: 3)
        let body = random.bytes(2_000_000)
        store.put(1, body: body)
        let stored = store.read(digest(1)) { $0.record(at: 0)?.body() }
        #expect(store.perform(.removeAll(digest(1))) == .removed(1))
        store.close()
        #expect(scratch.blobFiles == [])
        #expect(try stored?.whole() == body)
    }

    @Test("what is meant is removed and nothing else (ULS-CACHE-07)")
    func filters() throws {
        let store = try open()
        defer { store.close() }
        let (one, other) = (SessionID.make(), SessionID.make())
        func fill() {
            store.put(1, header: "a", body: [1], stored: 10)
            store.put(2, header: "b", body: [1], stored: 20)
            store.put(3, header: "a", body: [1], class: .session(one), stored: 30)
            store.put(4, header: "b", body: [1], class: .session(one), stored: 40)
            store.put(5, header: "a", body: [1], class: .session(other), stored: 50)
        }
        func left() throws -> [UInt64] { try store.list(after: 0).map(\.stored) }
        let cases: [(CacheFilter, [UInt64])] = [
            (CacheFilter(), []),
            (CacheFilter(storageClass: .permanent), [30, 40, 50]),
            (CacheFilter(storageClass: .anySession), [10, 20]),
            (CacheFilter(storageClass: .session(one)), [10, 20, 50]),
            (CacheFilter(storedSince: 30), [10, 20]),
            (CacheFilter(storageClass: .anySession, storedSince: 35), [10, 20, 30]),
            (CacheFilter(header: { $0.first == UInt8(ascii: "a") }), [20, 40]),
            (CacheFilter(storageClass: .session(one), header: { $0.first == UInt8(ascii: "a") }), [10, 20, 40, 50]),
        ]
        for (filter, expected) in cases {
            fill()
            #expect(store.perform(.removeMatching(filter)) == .removed(5 - expected.count))
            #expect(try left() == expected)
            #expect(try store.statistics().sessionRecords == UInt64(expected.count { $0 >= 30 }))
            _ = store.perform(.removeMatching(CacheFilter()))
        }
        #expect(try store.statistics().records == 0)
    }

    @Test("more records than are read at a time are all removed", arguments: [false, true])
    func manyRemoved(isSession: Bool) throws {
        let store = try open()
        defer { store.close() }
        let session = SessionID.make()
        for number in 0..<2500 { store.put(number, body: [], class: isSession ? .session(session) : .permanent) }
        let filter = CacheFilter(storageClass: isSession ? .session(session) : .permanent)
        #expect(store.perform(.removeMatching(filter)) == .removed(2500))
        #expect(try store.statistics().records == 0)
        #expect(try store.statistics().keys == 0)
    }

    @Test("a body beyond its share of the budget is not stored")
    func share() throws {
        let store = try open { $0.budget = 800_000 }
        defer { store.close() }
        #expect(store.longestBody == 100_000)
        #expect(store.put(1, body: [UInt8](repeating: 1, count: 100_001)) == nil)
        #expect(store.put(2, body: [UInt8](repeating: 1, count: 100_000)) != nil)
        let body = SpooledBody.inline([UInt8](repeating: 1, count: 100_001))
        let record = NewRecord(digest: digest(1), header: [], body: body, stored: 1)
        #expect(store.perform(.append(record)) == .notDone(.tooLong))
    }

    @Test("changes go through the store thread, and are seen by whoever is told of them")
    func submitted() throws {
        let store = try open()
        defer { store.close() }
        let outcomes = Guarded<[CacheOutcome]>([])
        for number in 0..<500 {
            let body = try #require(spooled([UInt8](repeating: 1, count: number * 100), store))
            let record = NewRecord(digest: digest(number), header: [], body: body, stored: 1)
            store.submit(.append(record), number % 2 == 0 ? .now : .soon) { outcome in
                let isThere = store.read(digest(number)) { $0.count } == 1
                outcomes.withLock { $0.append(isThere ? outcome : .notDone(.gone)) }
            }
        }
        waitUntil { outcomes.withLock { $0.count } == 500 }
        let stored = outcomes.withLock { $0 }.compactMap { outcome -> UInt64? in
            if case .stored(let sequence) = outcome { sequence } else { nil }
        }
        #expect(stored == Array(1...500))
        #expect(try store.statistics().records == 500)
    }

    @Test("after it is closed a change is refused and a look-up finds nothing")
    func closed() throws {
        let store = try open()
        store.put(1, body: [1])
        store.close()
        let outcome = Guarded<CacheOutcome?>(nil)
        store.submit(.removeAll(digest(1))) { told in outcome.withLock { $0 = told } }
        #expect(outcome.withLock { $0 } == .notDone(.failed(.closed)))
        #expect(store.found(1) == [])
    }

    @Test("a list comes in parts, in the order of storing")
    func lists() throws {
        let store = try open()
        defer { store.close() }
        for number in 0..<25 { store.put(number, body: [UInt8](repeating: 0, count: number * 1000)) }
        var listed: [CacheListing] = []
        while true {
            let part = try store.list(after: listed.last?.use.sequence ?? 0, limit: 10)
            if part.isEmpty { break }
            listed += part
        }
        #expect(listed.map { $0.use.digest } == (0..<25).map { digest($0) })
        #expect(listed.map(\.bodyLength) == (0..<25).map { UInt64($0 * 1000) })
    }

    @Test("clearing leaves nothing but empty tables")
    func clear() throws {
        let store = try open()
        defer { store.close() }
        for number in 0..<50 { store.put(number, body: [UInt8](repeating: UInt8(number), count: number * 1000)) }
        #expect(store.clear() == .removed(50))
        #expect(scratch.blobFiles == [])
        let statistics = try store.statistics()
        #expect(statistics.records == 0 && statistics.keys == 0 && statistics.blobs == 0 && statistics.blobBytes == 0)
        #expect(store.put(1, body: [1]) == 51)
    }

    @Test("readers see whole records while others write and evict")
    func parallel() throws {
        let store = try open { $0.budget = 3 << 20 }
        defer { store.close() }
        var random = SeededGenerator(seed: 5)
        let bodies = (0..<40).map { random.bytes($0 % 4 == 0 ? 60_000 : 3000 + $0) }
        let isOver = Guarded(false)
        let wrong = Guarded(0)
        let hits = Guarded(0)
        let threads = try (0..<4).map { _ in
            try NamedThread.start(name: "reader") {
                var number = 0
                while !isOver.withLock({ $0 }) {
                    number = (number + 7) % 40
                    let body = store.read(digest(number)) { candidates -> StoredBody? in
                        guard let record = candidates.record(at: 0) else { return nil }
                        store.used(record.use)
                        return record.body()
                    }
                    guard let body else { continue }
                    guard let bytes = try? body.whole() else {
                        wrong.withLock { $0 += 1 }
                        continue
                    }
                    hits.withLock { $0 += 1 }
                    if bytes != bodies[number] { wrong.withLock { $0 += 1 } }
                }
            }
        }
        for round in 0..<1500 { store.put(round % 40, body: bodies[round % 40]) }
        waitUntil { hits.withLock { $0 } > 0 }
        isOver.withLock { $0 = true }
        threads.forEach { $0.join() }
        #expect(wrong.withLock { $0 } == 0)
        #expect(hits.withLock { $0 } > 0)
        let statistics = try store.statistics()
        #expect(statistics.bytes <= statistics.budget)
        #expect(try store.verify().damagedRecords == 0)
    }
}

/// Waits for what another thread or process does; gives up after two minutes.
func waitUntil(_ condition: () -> Bool) {
    for _ in 0..<24_000 {
        if condition() { return }
        usleep(5000)
    }
}
