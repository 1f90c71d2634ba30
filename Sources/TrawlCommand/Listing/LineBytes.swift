import TrawlJSON

/// What the bytes of a line are, told in one pass.
enum LineBytes {
    case text
    case zero
    case notUTF8

    static func check(_ line: UnsafeRawBufferPointer) -> LineBytes {
        var index = 0
        // Eight bytes at a time as long as they are ASCII and none of them is zero.
        while index + 8 <= line.count {
            let word = line.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word
            guard (word | zeros) & 0x8080_8080_8080_8080 == 0 else { break }
            index += 8
        }
        while index < line.count, line[index] &- 1 < 0x7F { index += 1 }
        guard index < line.count else { return .text }
        let rest = UnsafeRawBufferPointer(rebasing: line[index...])
        if rest.contains(0) { return .zero }
        return UTF8Bytes.areValid(rest) ? .text : .notUTF8
    }
}
