import TestSupport
import Testing
import TrawlStore

@testable import Trawl

@Suite("Who leads identical fetches")
struct LeaderTableTests {
    @Test("each digest has the fetch that was set last, until it is removed")
    func model() {
        var table = LeaderTable()
        var expected: [CacheDigest: FetchKey] = [:]
        var random = SeededGenerator(seed: 1)
        for round in 0..<50_000 {
            // Few first halves: digests that share one meet in one place.
            let digest = CacheDigest(random.next() % 700, random.next() % 3)
            switch random.next() % (round < 25_000 ? 3 : 2) {
            case 0:
                table.remove(digest)
                expected[digest] = nil
            case 1 where round >= 25_000:
                for key in [digest, CacheDigest(digest.words.0, 2)] {
                    table.remove(key)
                    expected[key] = nil
                }
            default:
                let fetch = FetchKey(use: UInt32(round), place: 1)
                table.set(fetch, for: digest)
                expected[digest] = fetch
            }
            #expect(table[digest] == expected[digest])
            #expect(table.count == expected.count)
        }
        for (digest, fetch) in expected { #expect(table[digest] == fetch) }
    }
}

@Suite("A reference that is known later")
struct LateReferenceTests {
    private final class Thing: Sendable {
        let ended: @Sendable () -> Void
        init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }
        deinit { ended() }
    }

    @Test("is that of the first who sets it, for all, and is let go of with its owner")
    func first() async {
        await confirmation("each is let go of once", expectedCount: 9) { ended in
            do {
                let reference = LateReference<Thing>()
                #expect(reference.load() == nil)
                let first = Thing { ended() }
                #expect(reference.set(first) === first)
                await withTaskGroup { group in
                    for _ in 0..<8 {
                        group.addTask {
                            #expect(reference.set(Thing { ended() }) === first)
                            #expect(reference.load() === first)
                        }
                    }
                }
            }
        }
    }
}
