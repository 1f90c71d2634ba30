/// Random numbers that can be had again (SplitMix64): the same seed gives the same sequence on every machine.
///
/// The seed belongs into the message of a failing test.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True half of the time.
    package mutating func bool() -> Bool { next() & 1 == 1 }

    /// True once in `count` times.
    package mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// A number; the least and the greatest come more often than chance would have it.
    package mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>() -> Integer {
        switch next() % 8 {
        case 0: 0
        case 1: .max
        default: Integer(truncatingIfNeeded: next())
        }
    }

    /// One of some values, of which there must be one.
    package mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(next() % UInt64(values.count))] }

    /// So many bytes of no pattern.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        if count == 0 { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            var place = 0
            while place < count {
                withUnsafeBytes(of: next()) { word in
                    for byte in word.prefix(count - place) {
                        raw[place] = byte
                        place += 1
                    }
                }
            }
            filled = count
        }
    }

    /// Bytes of no pattern and of no certain count.
    package mutating func bytes(upTo limit: Int) -> [UInt8] { bytes(Int.random(in: 0...limit, using: &self)) }

    /// Text with what goes wrong in texts: NUL, line ends, marks that join.
    package mutating func text(upTo limit: Int = 20) -> String {
        let letters: [Character] = ["a", "Z", "0", " ", "/", "\0", "\n", "é", "☕", "👩‍🚒"]
        let count = Int.random(in: 0...limit, using: &self)
        return String((0..<count).map { _ in letters[Int(next() % UInt64(letters.count))] })
    }

    /// None to three texts.
    package mutating func texts() -> [String] { (0..<Int.random(in: 0...3, using: &self)).map { _ in text() } }
}
