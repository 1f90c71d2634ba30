/// The pseudo-random bytes of a seed: SplitMix64 used as a counter, so that any range is as cheap as the first.
///
/// Bytes 8i to 8i+7 are the word w(i), least significant byte first, all arithmetic modulo 2^64:
///
///     z = seed + (i + 1) * 0x9E3779B97F4A7C15
///     z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
///     z = (z ^ (z >> 27)) * 0x94D049BB133111EB
///     w(i) = z ^ (z >> 31)
struct ByteStream: Sendable {
    let seed: UInt64

    func word(_ index: Int) -> UInt64 {
        var z = seed &+ (UInt64(index) &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// The bytes of the range.
    func bytes(_ range: Range<Int>) -> [UInt8] {
        let shift = range.lowerBound % 8
        let words = (shift + range.count + 7) / 8
        let first = range.lowerBound / 8
        // Whole words first, then the ends are cut: several times faster than going byte by byte.
        var bytes = [UInt8](unsafeUninitializedCapacity: words * 8) { buffer, count in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            for index in 0..<words {
                raw.storeBytes(of: word(first + index).littleEndian, toByteOffset: index * 8, as: UInt64.self)
            }
            count = words * 8
        }
        if shift > 0 { bytes.removeFirst(shift) }
        bytes.removeLast(bytes.count - range.count)
        return bytes
    }
}

/// FNV-1a, 64 bits: offset basis 0xCBF29CE484222325, prime 0x100000001B3.
struct FNV1a: Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: [UInt8]) {
        var hash = value
        bytes.withUnsafeBytes { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 } }
        value = hash
    }

    static func hash(_ bytes: [UInt8]) -> UInt64 {
        var hash = FNV1a()
        hash.add(bytes)
        return hash.value
    }
}
