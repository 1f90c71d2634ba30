import Testing

@testable import TrawlCommand

@Suite("How much of a list batch reads in a turn")
struct TurnLimitTests {
    /// How many lines of so many bytes are read, what each leaves for the outputs included.
    private static func count(of line: Int, leaving record: Int = 0, from start: Int = 0) -> Int {
        var limit = TurnLimit(bytesRead: start)
        var (lines, bytes, waiting) = (0, start, 0)
        while limit.mayRead(bytesRead: bytes, waiting: waiting) {
            lines += 1
            bytes += line
            waiting += record
        }
        return lines
    }

    @Test(
        "4096 lines, or as many as are a MiB",
        arguments: [(0, 4096), (1, 4096), (100, 4096), (256, 4096), (257, 4081), (1 << 19, 2), (1 << 20, 1)])
    func lines(length: Int, count: Int) {
        #expect(Self.count(of: length) == count)
        #expect(Self.count(of: length, from: 1 << 40) == count)
    }

    @Test(
        "no more than leave a MiB to be written, however short they are",
        arguments: [(255, 4096), (257, 4081), (1 << 19, 2), (1 << 30, 1)])
    func records(length: Int, count: Int) {
        #expect(Self.count(of: 2, leaving: length) == count)
    }

    @Test("nothing is read as long as a MiB waits to be written")
    func waiting() {
        var limit = TurnLimit(bytesRead: 0)
        let whenFull = limit.mayRead(bytesRead: 0, waiting: 1 << 20)
        let withRoom = limit.mayRead(bytesRead: 0, waiting: (1 << 20) - 1)
        #expect(!whenFull && withRoom)
    }
}
