/// A small generator of random numbers whose seed says everything.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func bool() -> Bool { next() & 1 == 1 }

    mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>() -> Integer {
        // Edges come more often than chance would have it.
        switch next() % 8 {
        case 0: 0
        case 1: .max
        default: Integer(truncatingIfNeeded: next())
        }
    }

    mutating func bytes(upTo limit: Int) -> [UInt8] {
        let count = Int.random(in: 0...limit, using: &self)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    mutating func text(upTo limit: Int = 20) -> String {
        let letters: [Character] = ["a", "Z", "0", " ", "/", "\0", "\n", "é", "☕", "👩‍🚒"]
        let count = Int.random(in: 0...limit, using: &self)
        return String((0..<count).map { _ in letters[Int(next() % UInt64(letters.count))] })
    }

    mutating func texts() -> [String] {
        (0..<Int.random(in: 0...3, using: &self)).map { _ in text() }
    }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(next() % UInt64(values.count))] }
}
