import Testing

@testable import Trawl

@Suite("Fetches in their order")
struct HopLineTests {
    @Test("come out as they went in, however they are mixed")
    func order() {
        var line = HopLine()
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
}
