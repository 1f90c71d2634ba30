// TrawlCrypto: hashes, sealed bytes and keys of passphrases. Thin wrappers of libcrypto, which is loaded when it is
// first needed; it holds no key longer than a call and writes nothing anywhere.

import CTrawlCrypto

/// A hash function of libcrypto.
package enum MessageHash: Int32, Sendable, CaseIterable {
    /// 16 bytes; for what was built on it and nothing else.
    case md5 = 1
    /// 32 bytes.
    case sha256 = 2
    /// SHA-512/256 of FIPS 180-4, 32 bytes.
    case sha512Slash256 = 3

    /// The hash of bytes; nil when libcrypto is missing or does not have the function, as in FIPS mode it has no MD5.
    package func callAsFunction(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var hash = [UInt8](repeating: 0, count: 32)
        let size = ccrypto_hash(rawValue, bytes.baseAddress, bytes.count, &hash)
        guard size > 0 else { return nil }
        hash.removeLast(hash.count - Int(size))
        return hash
    }

    /// Whether the function is there.
    package var isAvailable: Bool { self(UnsafeRawBufferPointer(start: nil, count: 0)) != nil }
}
