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
        allWords { !Self.mayHaveControl($0) } || !contains(where: Self.isControl)
    }

    /// The same, and none of another byte.
    func isFreeOfControls(and byte: UInt8) -> Bool {
        allWords { !Self.mayHaveControl($0) && !Self.has(byte, $0) }
            || !contains { Self.isControl($0) || $0 == byte }
    }

    /// Whether it is visible ASCII without capitals and semicolons: what a domain is made of, and more.
    func isLowercaseVisible() -> Bool {
        allWords { word in
            // Sums stay inside their bytes where none is above 0x7F.
            if word & Self.high != 0 { return false }
            let above = word &+ Self.ones &* (0x80 - 0x21)
            let capitals = (word &+ Self.ones &* (0x80 - 0x41)) & ~(word &+ Self.ones &* (0x80 - 0x5B))
            return above & ~capitals & Self.high == Self.high && !Self.has(0x7F, word)
                && !Self.has(UInt8(ascii: ";"), word)
        }
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let high: UInt64 = 0x8080_8080_8080_8080

    /// Whether a test holds of all bytes, eight at a time, each of which it judges by itself.
    @inline(__always)
    private func allWords(_ test: (UInt64) -> Bool) -> Bool {
        var index = 0
        while index + 8 <= count {
            guard test(loadUnaligned(fromByteOffset: index, as: UInt64.self)) else { return false }
            index += 8
        }
        if index == count { return true }
        if count >= 8 { return test(loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)) }
        // Filled up with a letter, which no test minds.
        var word = Self.ones &* UInt64(UInt8(ascii: "a"))
        for byte in self { word = word << 8 | UInt64(byte) }
        return test(word)
    }

    /// Whether a word has a control byte; a tab, too, is said to be one.
    @inline(__always)
    private static func mayHaveControl(_ word: UInt64) -> Bool {
        // A byte less 0x20 borrows where it was below that, and from the one above it only then.
        (word &- ones &* 0x20) & ~word & high != 0 || has(0x7F, word)
    }

    /// Whether one of the bytes of a word is that one.
    @inline(__always)
    private static func has(_ byte: UInt8, _ word: UInt64) -> Bool {
        let zeroed = word ^ (ones &* UInt64(byte))
        // A byte less one borrows only where it was zero.
        return (zeroed &- ones) & ~zeroed & high != 0
    }

    @inline(__always)
    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 && byte != 0x09 || byte == 0x7F
    }
}
