import Testing
import TrawlCache
import TrawlHTTP
import TrawlPlatform

@testable import TrawlStore

@Suite("Changes of many records")
struct LongChangeTests {
    private let scratch = CacheScratch()

    private func open(_ budget: UInt64 = 1 << 30) throws -> CacheStore {
        var settings = CacheSettings()
        settings.budget = budget
        return try CacheStore.open(directory: scratch.cache, settings: settings)
    }

    private func put(_ digests: [CacheDigest], body: Int = 10, in store: CacheStore) {
        for digest in digests {
            let body = SpooledBody.inline([UInt8](repeating: 1, count: body))
            let record = NewRecord(digest: digest, header: [1], body: body, stored: 1)
            store.submit(.append(record), .soon) { _ in }
        }
        store.flush()
    }

    private func transactions(_ store: CacheStore, _ body: () throws -> Void) throws -> UInt64 {
        let before = try store.environment.information().lastTransaction
        try body()
        return try store.environment.information().lastTransaction - before
    }

    @Test("what is stored of an origin is found without looking at anything else")
    func origin() throws {
        let store = try open()
        defer { store.close() }
        for origin: UInt64 in [6, 8] { put((0..<1500).map { CacheDigest(origin, $0) }, in: store) }
        put((0..<1200).map { CacheDigest(7, $0 &* 0x9E37_79B9_7F4A_7C15) } + [CacheDigest(7, .max)], in: store)
        let looks = Guarded(0)
        let filter = CacheFilter(origin: 7) { _ in
            looks.withLock { $0 += 1 }
            return true
        }
        let done = try transactions(store) { #expect(store.perform(.removeMatching(filter)) == .removed(1201)) }
        #expect(done == 3)
        #expect(looks.withLock { $0 } == 1201)
        #expect(try store.statistics().records == 3000)
        #expect(try store.statistics().keys == 3000)
        #expect(store.perform(.removeMatching(filter)) == .removed(0))
        #expect(looks.withLock { $0 } == 1201)
        for origin: UInt64 in [6, 8] {
            #expect(store.perform(.removeMatching(CacheFilter(origin: origin))) == .removed(1500))
        }
    }

    @Test("keys of one origin have digests that begin alike, and those of others do not")
    func digests() throws {
        let origin = Origin(scheme: "https", host: "a.example", port: 443)
        let first = try #require(ResponseStore.records(of: origin).origin)
        func words(_ text: String) -> (UInt64, UInt64) { CacheDigest(of: CacheKey(text: text)).words }
        let inside = ["https://a.example/", "https://a.example/x/y?z=https://b.example/"].map { words($0) }
        #expect(inside.allSatisfy { $0.0 == first })
        #expect(inside[0].1 != inside[1].1)
        let outside = [
            "http://a.example/", "https://a.example:8443/", "https://a.example.b/", "https://b.example/a.example/",
            "https://a.example", "",
        ]
        #expect(outside.allSatisfy { words($0).0 != first })
        let other = Origin(scheme: "https", host: "a.example", port: 8443)
        #expect(ResponseStore.records(of: other).origin == words("https://a.example:8443/x").0)
    }

    @Test("no transaction grows with the store", arguments: ["class", "session", "evict"])
    func parts(kind: String) throws {
        var store = try open()
        let session = SessionID.make()
        for number in 0..<2000 {
            let record = NewRecord(
                digest: digest(number), header: [1], body: .inline([UInt8](repeating: 1, count: 3000)),
                storageClass: kind == "session" ? .session(session) : .permanent, stored: 1)
            store.submit(.append(record), .soon) { _ in }
        }
        store.flush()
        store.close()
        store = try open(kind == "evict" ? 1 << 20 : 1 << 30)
        defer { store.close() }
        let change: CacheWrite =
            switch kind {
            case "class": .removeMatching(CacheFilter(storageClass: .permanent))
            case "session": .removeMatching(CacheFilter(storageClass: .anySession))
            default: .evict
            }
        let done = try transactions(store) {
            guard case .removed(let count) = store.perform(change) else {
                Issue.record("not removed")
                return
            }
            #expect(kind == "evict" ? count > 1500 : count == 2000)
        }
        #expect(done >= 4 && done <= 8)
        if kind == "evict" { #expect(try store.statistics().bytes <= 1 << 20) }
        // On the store thread as well, and its end is told once.
        put((0..<1000).map { CacheDigest(UInt64($0), 1) }, body: 3000, in: store)
        let outcomes = Guarded<[CacheOutcome]>([])
        store.submit(.removeMatching(CacheFilter(storageClass: .permanent))) { outcome in
            outcomes.withLock { $0.append(outcome) }
        }
        waitUntil { outcomes.withLock { !$0.isEmpty } }
        store.flush()
        #expect(outcomes.withLock { $0.count } == 1)
        #expect(try store.statistics().records == 0)
    }

    @Test("closing waits for the last part")
    func close() throws {
        let store = try open()
        put((0..<3000).map { CacheDigest(7, $0) }, in: store)
        let outcomes = Guarded<[CacheOutcome]>([])
        store.submit(.removeMatching(CacheFilter(origin: 7))) { outcome in outcomes.withLock { $0.append(outcome) } }
        store.close()
        #expect(outcomes.withLock { $0 } == [.removed(3000)])
        let next = try open()
        defer { next.close() }
        #expect(try next.statistics().records == 0)
    }

    @Test("what is stored while records are removed stays")
    func meanwhile() throws {
        let store = try open()
        defer { store.close() }
        for origin: UInt64? in [nil, 7] {
            put((0..<1000).map { CacheDigest(7, $0) }, in: store)
            let filter = CacheFilter(storageClass: .permanent, origin: origin)
            let cursor = Guarded(RemovalCursor())
            var parts = 0
            while !(cursor.withLock { $0.isDone }) {
                _ = store.writeNow { (transaction, effects) throws(StoreError) in
                    var next = cursor.withLock { $0 }
                    let count = try store.tables.removeMatching(filter, &next, in: transaction, &effects)
                    cursor.withLock { $0 = next }
                    return .removed(count)
                }
                parts += 1
                put([CacheDigest(7, UInt64.max - UInt64(parts))], in: store)
            }
            #expect(parts > 1)
            #expect(try store.statistics().records == UInt64(parts))
            _ = store.perform(.removeMatching(CacheFilter(storageClass: .permanent)))
        }
    }
}

extension CacheStore {
    /// Waits for what was submitted.
    fileprivate func flush() { pending.withLock { $0.writes }?.flush() }
}
