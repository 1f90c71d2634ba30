import Testing

@testable import TrawlCommand

@Suite("Bytes cut at the ends of lines")
struct LineBufferTests {
    /// Adds bytes as they are read: so many at a time, into room for more.
    private func add(_ bytes: [UInt8], to buffer: LineBuffer) {
        var start = 0
        while start < bytes.count {
            buffer.append(room: 128 << 10) { room in
                let count = min(room.count, bytes.count - start)
                bytes.withUnsafeBytes {
                    room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))
                }
                start += count
                return count
            }
        }
    }

    private func lengths(_ buffer: LineBuffer) -> [Int] {
        var lengths: [Int] = []
        while let line = buffer.takeLine() { lengths.append(line.count) }
        return lengths
    }

    @Test("the memory of a long line is not kept, be there always a part of the next line", arguments: ["", "part"])
    func shrinks(rest: String) {
        let buffer = LineBuffer(longest: 64 << 20)
        add([UInt8](repeating: 0x78, count: 20 << 20) + Array("\n\(rest)".utf8), to: buffer)
        #expect(buffer.capacity > 20 << 20)
        #expect(lengths(buffer) == [20 << 20])
        add(Array("ab\n\(rest)".utf8), to: buffer)
        #expect(buffer.capacity < 1 << 20 && buffer.count == 3 + 2 * rest.utf8.count)
        #expect(lengths(buffer) == [2 + rest.utf8.count])
        add([UInt8](repeating: 0x78, count: 5 << 20) + Array("\nz\n".utf8), to: buffer)
        #expect(lengths(buffer) == [rest.utf8.count + 5 << 20, 1])
    }

    @Test("when a long line was taken and nothing is left, its memory is given back before more comes")
    func givesBack() {
        let buffer = LineBuffer(longest: 64 << 20)
        add([UInt8](repeating: 0x78, count: 20 << 20) + [0x0A], to: buffer)
        #expect(buffer.takeLine()?.count == 20 << 20)
        // The line that was taken is there until then.
        #expect(buffer.capacity > 20 << 20)
        #expect(buffer.takeLine() == nil)
        #expect(buffer.capacity < 1 << 20)
        add(Array("ab\nc".utf8), to: buffer)
        #expect(lengths(buffer) == [2])
        #expect(buffer.takeRest().map { Array($0) } == Array("c".utf8))
    }

    @Test("lines come whole whatever the space is that they go through")
    func whole() {
        let buffer = LineBuffer(longest: 8 << 20)
        var expected: [Int] = []
        var found: [Int] = []
        for round in 0..<40 {
            let length = round % 5 == 4 ? 3 << 19 : round * 1000
            add([UInt8](repeating: UInt8(0x30 + round), count: length) + [0x0A] + Array("tail".utf8), to: buffer)
            expected.append(length + (round == 0 ? 0 : 4))
            while let line = buffer.takeLine() {
                found.append(line.count)
                let text = line.dropFirst(round == 0 ? 0 : 4)
                if text.contains(where: { $0 != UInt8(0x30 + round) }) { Issue.record("line \(round) is damaged") }
            }
        }
        #expect(found == expected)
        #expect(buffer.takeRest().map { Array($0) } == Array("tail".utf8))
    }
}
