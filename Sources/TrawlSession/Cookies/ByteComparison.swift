extension UnsafeRawBufferPointer {
    /// Whether both hold the same bytes.
    @inline(__always)
    func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index + 8 <= count {
            if loadUnaligned(fromByteOffset: index, as: UInt64.self)
                != other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            {
                return false
            }
            index += 8
        }
        while index < count {
            if self[index] != other[index] { return false }
            index += 1
        }
        return true
    }

    /// Whether it starts with the letters, which are in lower case, in whatever case.
    func startsIgnoringCase(_ letters: StaticString) -> Bool {
        guard count >= letters.utf8CodeUnitCount else { return false }
        return from(0, upTo: letters.utf8CodeUnitCount).isIgnoringCase(letters)
    }

    /// Whether it is the letters, which are in lower case, in whatever case.
    func isIgnoringCase(_ letters: StaticString) -> Bool {
        guard count == letters.utf8CodeUnitCount else { return false }
        let other = letters.utf8Start
        for index in 0..<count {
            let byte = self[index]
            if (byte &- 0x41 < 26 ? byte | 0x20 : byte) != other[index] { return false }
        }
        return true
    }

    /// A part of it.
    @inline(__always)
    func from(_ start: Int, upTo end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[start..<end])
    }

    /// Whether it has none of the control bytes that no cookie may have: all but the tab (RFC 6265bis §5.6 step 1).
    func isFreeOfControls() -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high = ones &* 0x80
        var index = 0
        while index + 8 <= count {
            let word = loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let below = (word &- ones &* 0x20) & ~word & high
            let rubout = word ^ (ones &* 0x7F)
            // A byte minus one borrows only where it was zero.
            if below | ((rubout &- ones) & ~rubout & high) != 0 {
                for place in index..<index + 8 where Self.isControl(self[place]) { return false }
            }
            index += 8
        }
        while index < count {
            if Self.isControl(self[index]) { return false }
            index += 1
        }
        return true
    }

    @inline(__always)
    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 && byte != 0x09 || byte == 0x7F
    }
}
