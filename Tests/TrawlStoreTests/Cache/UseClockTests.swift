import Glibc
import Testing

@testable import TrawlStore

@Suite("The clock of uses")
struct UseClockTests {
    private let scratch = CacheScratch()
    private var path: String { scratch.path + "/uses" }

    @Test("a use is seen at once by whoever has the file open, and stays")
    func shared() {
        let one = UseClock(in: scratch.path, budget: 1 << 30)
        let other = UseClock(in: scratch.path, budget: 1 << 20)
        one.use(5)
        other.use(6)
        one.use(5)
        #expect(other.last(5) == 3)
        #expect(one.last(6) == 2)
        #expect(one.last(7) == 0)
        #expect(other.now == 3)
        #expect(UseClock(in: scratch.path, budget: 0).last(5) == 3)
    }

    @Test("ticks rise, and never fall below what is asked for")
    func ticks() {
        let clock = UseClock(in: scratch.path, budget: 1 << 20)
        #expect(clock.tick(atLeast: 1) == 1)
        #expect(clock.tick(atLeast: 1) == 2)
        #expect(clock.tick(atLeast: 100) == 100)
        clock.use(1)
        #expect(clock.tick(atLeast: 50) == 102)
    }

    @Test("any number is a slot")
    func slots() {
        let clock = UseClock(in: scratch.path, budget: 1 << 22)
        for slot in [0, 4095, 4096, 1 << 40, UInt64.max] {
            clock.assign(slot, last: 9)
            #expect(clock.last(slot) == 9)
        }
        #expect(clock.last(0) == clock.last(4096))
    }

    @Test("the last removal of a digest is seen by whoever has the file open, and no slot or tick is touched by it")
    func removals() {
        let one = UseClock(in: scratch.path, budget: 1 << 20)
        let other = UseClock(in: scratch.path, budget: 1 << 20)
        one.use(0)
        for number in 0..<20_000 { one.noteRemoval(of: CacheDigest(9, UInt64(number)), at: 100_000) }
        one.noteRemoval(of: CacheDigest(9, .max), at: 120_000)
        #expect(other.lastRemoval(of: CacheDigest(9, .max)) == 120_000)
        #expect(other.lastRemoval(of: CacheDigest(9, 3)) >= 100_000)
        one.noteRemoval(of: CacheDigest(9, .max), at: 110_000)
        #expect(other.lastRemoval(of: CacheDigest(9, .max)) == 120_000)
        // What a clock noted that was wrong does not stay.
        one.noteRemoval(of: CacheDigest(9, .max), at: 50_000)
        #expect(other.lastRemoval(of: CacheDigest(9, .max)) == 50_000)
        #expect(other.now == 1)
        #expect(other.last(0) == 1)
        #expect(UseClock(in: scratch.path, budget: 1 << 20).last(4095) == 0)
    }

    @Test("a removal holds for no other digest, unless two that share a word had removals")
    func strangers() {
        let clock = UseClock(in: scratch.path, budget: 1 << 20)
        clock.noteRemoval(of: CacheDigest(5, 7), at: 100_000)
        // Of the same origin, and of the same word.
        #expect(clock.lastRemoval(of: CacheDigest(5, 7 + 8189 << 45)) == 0)
        for number in 0..<20_000 where number != 5 {
            #expect(clock.lastRemoval(of: CacheDigest(UInt64(number), 7)) == 0)
        }
        clock.noteRemoval(of: CacheDigest(6, 7), at: 90_000)
        for number: UInt64 in [5, 6, 7] { #expect(clock.lastRemoval(of: CacheDigest(number, 7)) == 100_000) }
        // The same one again does not make it its own: the other may still be asked about.
        clock.noteRemoval(of: CacheDigest(6, 7), at: 110_000)
        for number: UInt64 in [5, 6, 7] { #expect(clock.lastRemoval(of: CacheDigest(number, 7)) == 110_000) }
        #expect(clock.lastRemoval(of: CacheDigest(6, 8)) == 0)
        // Of all bits of a tag none is one as well.
        clock.noteRemoval(of: CacheDigest(1 << 40, 9), at: 100_000)
        #expect(clock.lastRemoval(of: CacheDigest(1 << 40, 9)) == 100_000)
        #expect(clock.lastRemoval(of: CacheDigest(2, 9)) == 0)
    }

    @Test("a file that is damaged, cut short or no file is replaced or done without", arguments: 0..<5)
    func damaged(kind: Int) throws {
        do {
            let clock = UseClock(in: scratch.path, budget: 1 << 20)
            clock.use(1)
        }
        switch kind {
        case 0: truncate(path, 5000)
        case 1: truncate(path, 0)
        case 2:
            let file = open(path, O_WRONLY | O_CLOEXEC)
            var slots: UInt64 = 1 << 60
            #expect(pwrite(file, &slots, 8, 8) == 8)
            close(file)
        case 3: unlink(path)
        default:
            unlink(path)
            mkdir(path, 0o700)
        }
        let clock = UseClock(in: scratch.path, budget: 1 << 20)
        clock.use(2)
        #expect(clock.last(1) == 0)
        #expect(clock.last(2) == (kind == 4 ? 0 : 1))
        #expect(clock.tick(atLeast: 7) == 7)
        #expect(scratch.files() == (kind == 4 ? [] : ["uses"]))
    }
}
