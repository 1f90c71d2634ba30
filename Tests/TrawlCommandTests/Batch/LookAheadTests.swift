import Testing

@testable import TrawlCommand

@Suite("How many requests batch reads ahead")
struct LookAheadTests {
    /// What turns meet: whether workers stand idle, and whether all that may be read ahead is.
    private enum Turn {
        case idle(isFull: Bool)
        case busy
    }

    private static func count(most: Int, _ turns: [Turn]) -> Int {
        var lookAhead = LookAhead(most: most)
        for turn in turns {
            switch turn {
            case .idle(let isFull):
                // What is looked at is how the turn before ended.
                lookAhead.note(isFull: isFull)
                lookAhead.adapt(hasIdleWorkers: true)
            case .busy:
                lookAhead.adapt(hasIdleWorkers: false)
            }
        }
        return lookAhead.count
    }

    @Test(
        "it begins with a sixth of the most, but 128 where that is more",
        arguments: [(0, 0), (1, 1), (127, 127), (128, 128), (767, 128), (774, 129), (1024, 170), (16_384, 2730)])
    func beginning(most: Int, count: Int) {
        #expect(LookAhead(most: most).count == count)
    }

    @Test(
        "it doubles up to the most while workers stand idle and no more may be read",
        arguments: [(0, 170), (1, 340), (2, 680), (3, 1024), (4, 1024), (100, 1024)])
    func growing(turns: Int, count: Int) {
        #expect(Self.count(most: 1024, Array(repeating: .idle(isFull: true), count: turns)) == count)
    }

    @Test("idle workers alone do not: more may be read as it is")
    func notFull() {
        #expect(Self.count(most: 1024, Array(repeating: .idle(isFull: false), count: 100)) == 170)
    }

    @Test(
        "it halves after each 256 busy turns in a row, down to where it began",
        arguments: [(255, 1024), (256, 512), (511, 512), (512, 256), (768, 170), (10_000, 170)])
    func shrinking(turns: Int, count: Int) {
        let idle = Array(repeating: Turn.idle(isFull: true), count: 3)
        #expect(Self.count(most: 1024, idle + Array(repeating: .busy, count: turns)) == count)
    }

    @Test("growing begins the count of busy turns anew")
    func interrupted() {
        let idle = [Turn.idle(isFull: true)]
        let busy = Array(repeating: Turn.busy, count: 200)
        #expect(Self.count(most: 1024, idle + busy + idle + busy) == 680)
        #expect(Self.count(most: 1024, idle + busy + idle + busy + Array(busy.prefix(56))) == 340)
    }

    @Test("it is exhausted when all of the most is read")
    func exhausted() {
        var lookAhead = LookAhead(most: 200)
        lookAhead.note(isFull: true)
        #expect(!lookAhead.isExhausted)
        lookAhead.adapt(hasIdleWorkers: true)
        #expect(lookAhead.count == 200 && lookAhead.isExhausted)
        lookAhead.note(isFull: false)
        #expect(!lookAhead.isExhausted)
    }
}
