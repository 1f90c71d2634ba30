import TrawlHTTP

/// A hash and whether a session key is derived by it.
///
/// - Source: RFC 7616 §3.3 (`algorithm`), §6.1 (their registry).
package struct DigestAlgorithm: Sendable, Hashable {
    /// The hashes Digest can be used with.
    package enum Hash: UInt8, Sendable, Hashable, CaseIterable {
        /// 16 bytes, for servers of old.
        case md5 = 1
        /// 32 bytes.
        case sha256 = 2
        /// SHA-512/256 of FIPS 180-4, 32 bytes. The examples of RFC 7616 §3.9.2 are of another function (erratum 4897).
        case sha512Slash256 = 3

        /// The name in the field.
        package var name: String {
            switch self {
            case .md5: "MD5"
            case .sha256: "SHA-256"
            case .sha512Slash256: "SHA-512-256"
            }
        }
    }

    /// The hash.
    package let hash: Hash
    /// Whether it is the `-sess` variant.
    package let isSession: Bool

    /// An algorithm of its parts.
    package init(_ hash: Hash, isSession: Bool = false) {
        self.hash = hash
        self.isSession = isSession
    }

    /// The algorithm of that name, in whatever case, or nil.
    init?(name: [UInt8]) {
        let text = name.withUnsafeBytes(FieldLines.latin1)
        for hash in Hash.allCases {
            for isSession in [false, true]
            where FieldSyntax.equalIgnoringCase(
                text, isSession ? hash.name + "-sess" : hash.name)
            {
                self.init(hash, isSession: isSession)
                return
            }
        }
        return nil
    }
}
