/// CRC-32 as in RFC 1952 §8.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { table[Int(truncatingIfNeeded: $0 ^ UInt32($1)) & 255] ^ $0 >> 8 }
    }

    /// Of so many zeros, in logarithmic time: each zero byte multiplies the register by x^8.
    static func ofZeros(_ count: Int) -> UInt32 {
        var factor: UInt32 = 1 << 31
        var power: UInt32 = 1 << 23
        var rest = count
        while rest > 0 {
            if rest & 1 == 1 { factor = product(factor, power) }
            power = product(power, power)
            rest >>= 1
        }
        return ~product(~0, factor)
    }

    /// Of polynomials over GF(2), modulo the CRC's own; the highest bit is the coefficient of 1.
    private static func product(_ a: UInt32, _ b: UInt32) -> UInt32 {
        var (sum, term) = (UInt32(0), b)
        for bit in stride(from: 31, through: 0, by: -1) {
            if a >> UInt32(bit) & 1 == 1 { sum ^= term }
            term = term & 1 == 1 ? term >> 1 ^ 0xEDB8_8320 : term >> 1
        }
        return sum
    }
}

/// Adler-32 as in RFC 1950 §8.
enum Adler32 {
    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var (a, b) = (UInt32(1), UInt32(0))
        for byte in bytes {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return b << 16 | a
    }

    static func ofZeros(_ count: Int) -> UInt32 { UInt32(count % 65521) << 16 | 1 }
}

/// Just enough of RFC 1951 to produce valid streams; it does not look for matches.
enum Deflate {
    /// Stored blocks, §3.2.4.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(65_535)
            let (low, high) = (UInt8(truncatingIfNeeded: block.count), UInt8(truncatingIfNeeded: block.count >> 8))
            result += [rest.isEmpty ? 1 : 0, low, high, ~low, ~high]
            result += block
        } while !rest.isEmpty
        return result
    }

    /// A last block of zeros with the fixed codes of §3.2.6: one literal, then runs of 258 at distance 1.
    static func lastZeros(_ count: Int) -> [UInt8] {
        var bits = BitWriter()
        bits.put(1, 1)
        bits.put(0b10, 2)
        var left = count
        if left > 0 {
            bits.put(0b0011_0000, 8)
            left -= 1
        }
        while left >= 258 {
            bits.put(0b1100_0101, 8)
            bits.put(0, 5)
            left -= 258
        }
        for _ in 0..<left { bits.put(0b0011_0000, 8) }
        bits.put(0, 7)
        return bits.finish()
    }

    /// RFC 1952 §2.3 around a deflate stream.
    static func gzip(_ deflated: [UInt8], crc: UInt32, size: Int) -> [UInt8] {
        gzipHead + deflated + little(crc) + little(UInt32(truncatingIfNeeded: size))
    }

    static let gzipHead: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

    /// RFC 1950 §2.2 around a deflate stream.
    static func zlib(_ deflated: [UInt8], adler: UInt32) -> [UInt8] { zlibHead + deflated + little(adler).reversed() }

    static let zlibHead: [UInt8] = [0x78, 0xDA]

    static func little(_ value: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    private struct BitWriter {
        private var bytes: [UInt8] = []
        private var used = 8

        /// Highest bit first, as Huffman codes are packed.
        mutating func put(_ code: Int, _ count: Int) {
            for bit in stride(from: count - 1, through: 0, by: -1) {
                if used == 8 {
                    bytes.append(0)
                    used = 0
                }
                bytes[bytes.count - 1] |= UInt8(code >> bit & 1) << UInt8(used)
                used += 1
            }
        }

        consuming func finish() -> [UInt8] { bytes }
    }
}
