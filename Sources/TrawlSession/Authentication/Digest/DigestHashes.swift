/// The hash functions of Digest, given from outside: this target computes no hash itself.
package struct DigestHashes: Sendable {
    /// From bytes to the hash of them.
    package typealias Function = @Sendable (UnsafeRawBufferPointer) -> [UInt8]

    private var functions: [DigestAlgorithm.Hash: Function]

    /// These functions and no others.
    package init(_ functions: [DigestAlgorithm.Hash: Function]) {
        self.functions = functions
    }

    /// The hashes there is a function for.
    package var available: Set<DigestAlgorithm.Hash> { Set(functions.keys) }

    /// The function of a hash, or nil when there is none.
    package func function(_ hash: DigestAlgorithm.Hash) -> Function? { functions[hash] }

    /// The hash of bytes in lower-case hexadecimal (RFC 7616 §3.1.3).
    func hexadecimal(_ hash: DigestAlgorithm.Hash, of bytes: [UInt8]) throws(CredentialsFault) -> [UInt8] {
        guard let function = functions[hash] else { throw .hash }
        return Hexadecimal.text(bytes.withUnsafeBytes(function))
    }
}

/// Bytes in lower-case hexadecimal, as Digest writes them.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return text
    }

    /// A number in as many digits as its type has, most significant first.
    static func text(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        let places = stride(from: number.bitWidth - 8, through: 0, by: -8)
        return text(places.map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    /// The number that eight digits write, in whatever case, or nil.
    static func number(_ digits: [UInt8]) -> UInt32? {
        guard digits.count == 8 else { return nil }
        var number: UInt32 = 0
        for digit in digits {
            guard let place = Self.digits.firstIndex(of: digit | (digit > 0x39 ? 0x20 : 0)) else { return nil }
            number = number << 4 | UInt32(place)
        }
        return number
    }
}
