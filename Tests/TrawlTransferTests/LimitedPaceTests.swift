import Testing

@testable import TrawlTransfer

@Suite("What is done at a rate")
struct LimitedPaceTests {
    @Test(
        "a turn is a small part of a second, also at the ends",
        arguments: [1, 100, 14_800, 65_536, 1_000_000, 10_000_000, 100_000_000, .max] as [UInt64])
    func turns(rate: UInt64) {
        let pace = LimitedPace(rate: rate)
        #expect(pace.buffer >= 1152 && pace.buffer <= 128 << 10)
        #expect(pace.window >= Int(pace.buffer) && pace.window <= 2 * Int(pace.buffer))
        #expect(pace.piece >= 1 && pace.piece <= 64 << 10)
        if rate >= 14_800 {
            #expect(UInt64(pace.window) <= rate / 12)
            #expect(UInt64(pace.piece) <= rate / 20)
        }
        // Heads of segments, and of those that open and close.
        #expect(pace.onWire(0) > 0 && pace.onWire(1 << 20) > 1 << 20)
        #expect(pace.onWire(1 << 20) < (1 << 20) * 9 / 8)
        // Whatever a server announces.
        #expect(pace.onWire(.max) > 1 << 60)
    }

    @Test("what came unread is what is expected next, within reason")
    func unread() {
        var unread = UnreadBytes()
        let pace = LimitedPace(rate: 1_000_000)
        #expect(unread.window(at: pace) == pace.window)
        #expect(unread.start(at: pace) == pace.onWire(2 * pace.window))
        unread.note(40_000, 44_000, at: pace)
        #expect(unread.window(at: pace) == 20_000)
        #expect(unread.start(at: pace) == 44_000)
        // A server that sends little says nothing of what would have been taken.
        unread.note(100, 300, at: pace)
        #expect(unread.window(at: pace) == 20_000)
        #expect(unread.start(at: pace) == pace.onWire(pace.window))
        #expect(unread.window(at: LimitedPace(rate: 10)) == LimitedPace(rate: 10).window)
    }
}
