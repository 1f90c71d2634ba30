import Testing

@testable import Trawl

@Suite("Lines of what waits")
struct LineTests {
    @Test("come out as they went in, however they are mixed")
    func order() {
        var line = Line<FetchKey>()
        var (next, expected): (UInt64, UInt64) = (0, 0)
        for round in 0..<200 {
            for _ in 0..<(round * 7 % 13) {
                line.append(FetchKey(rawValue: next))
                next += 1
            }
            for _ in 0..<(round * 5 % 11) {
                #expect(line.first?.rawValue == (expected < next ? expected : nil))
                guard line.first != nil else { break }
                line.removeFirst()
                expected += 1
            }
        }
        while let key = line.first {
            #expect(key.rawValue == expected)
            line.removeFirst()
            expected += 1
        }
        #expect(expected == next && line.first == nil)
    }

    /// Counts those of its kind that are there.
    private final class Token {
        final class Count { var value = 0 }

        private let count: Count

        init(_ count: Count) {
            self.count = count
            count.value += 1
        }

        deinit { count.value -= 1 }
    }

    @Test("keep as many as wait, and not those that left, though there is always one")
    func memory() {
        let count = Token.Count()
        var line = Line<Token>()
        var most = 0
        for _ in 0..<3 { line.append(Token(count)) }
        for _ in 0..<10_000 {
            line.append(Token(count))
            line.removeFirst()
            most = max(most, count.value)
        }
        let isEmpty = line.first == nil
        #expect(!isEmpty && most <= 8, "\(most)")
    }
}
