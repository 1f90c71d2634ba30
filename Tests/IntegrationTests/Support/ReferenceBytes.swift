/// The origin's pseudo-random bytes and hash, written a second time from its description.
enum ReferenceBytes {
    /// The first bytes of the stream of a seed.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count + 8) { buffer, used in
            var index = 0
            var z0 = seed
            while index < count {
                z0 &+= 0x9E37_79B9_7F4A_7C15
                var z = z0
                z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
                z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
                z ^= z >> 31
                UnsafeMutableRawBufferPointer(buffer).storeBytes(
                    of: z.littleEndian, toByteOffset: index, as: UInt64.self)
                index += 8
            }
            used = count
        }
    }

    /// FNV-1a of 64 bits as 16 hexadecimal digits.
    static func hash(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        bytes.withUnsafeBufferPointer { bytes in
            var index = 0
            while index < bytes.count {
                hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3
                index += 1
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// What the good content codings of the origin decode to.
    static let plainText: [UInt8] = (1...400).flatMap { number in
        let digits = String(number)
        let padded = String(repeating: "0", count: 4 - digits.count) + digits
        return Array("Line \(padded) of the plain text, repeated so that a coder has something to find.\n".utf8)
    }
}
