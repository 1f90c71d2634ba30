import Testing

@testable import TrawlTransfer

@Suite("Bytes that wait")
struct WaitingBytesTests {
    private func append(_ bytes: [UInt8], to waiting: inout WaitingBytes) {
        bytes.withUnsafeBytes { waiting.append($0) }
    }

    private func content(_ waiting: WaitingBytes) -> [UInt8] { waiting.withUnsafeBytes { Array($0) } }

    @Test("they are taken from the front, in steps of any size, while others come", arguments: 1...7)
    func steps(step: Int) {
        var waiting = WaitingBytes()
        #expect(waiting.isEmpty && content(waiting).isEmpty)
        append([1, 2, 3, 4, 5, 6, 7], to: &waiting)
        var seen: [UInt8] = []
        var isSecond = false
        while !waiting.isEmpty {
            let count = min(step, waiting.count)
            seen += content(waiting)[..<count]
            waiting.removeFirst(count)
            if !isSecond { append([8, 9], to: &waiting) }
            isSecond = true
        }
        #expect(seen == [1, 2, 3, 4, 5, 6, 7, 8, 9])
        waiting.removeFirst(0)
        #expect(waiting.count == 0)
    }

    @Test("a copy keeps what was taken from the other")
    func copies() {
        var waiting = WaitingBytes()
        append([1, 2, 3], to: &waiting)
        let copy = waiting
        waiting.removeFirst(2)
        #expect(content(copy) == [1, 2, 3] && content(waiting) == [3])
        waiting.removeAll()
        #expect(waiting.isEmpty && copy.count == 3)
    }
}
