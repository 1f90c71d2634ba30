import TrawlCrypto
import TrawlSession

extension DigestHashes {
    /// The hash functions that libcrypto has, which is loaded for it; in FIPS mode there is no MD5.
    static let libcrypto: DigestHashes = {
        let known: [(DigestAlgorithm.Hash, MessageHash)] = [
            (.md5, .md5), (.sha256, .sha256), (.sha512Slash256, .sha512Slash256),
        ]
        var functions: [DigestAlgorithm.Hash: Function] = [:]
        for (hash, function) in known where function.isAvailable {
            functions[hash] = { function($0) ?? [] }
        }
        return DigestHashes(functions)
    }()
}
