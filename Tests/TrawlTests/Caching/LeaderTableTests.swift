import TestSupport
import Testing
import TrawlCache
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
            // Few second halves: digests that share one meet in one place.
            let digest = CacheDigest(random.next() % 3, random.next() % 700)
            switch random.next() % (round < 25_000 ? 3 : 2) {
            case 0:
                table.remove(digest)
                expected[digest] = nil
            case 1 where round >= 25_000:
                for key in [digest, CacheDigest(2, digest.words.1)] {
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

    // In one chain this takes minutes.
    @Test("as many of one origin as there may be in flight do not get in each other's way", .timeLimit(.minutes(10)))
    func oneOrigin() {
        var table = LeaderTable()
        let digests = (0..<100_000).map { CacheDigest(of: CacheKey(text: "https://a.example/\($0)")) }
        let time = ProcessorTime.spent {
            for (place, digest) in digests.enumerated() { table.set(FetchKey(use: 1, place: place), for: digest) }
            #expect(table.count == digests.count)
            for digest in digests { table.remove(digest) }
        }
        #expect(table.count == 0 && time < .seconds(60))
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
