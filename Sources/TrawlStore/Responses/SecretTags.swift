package import TrawlCache

/// Makes the tags that stand for credentials and cookies in records.
///
/// A keyed digest: equal secrets have equal tags within one store, and a tag says nothing to who does not have the
/// secret to compare.
package struct SecretTags: Sendable {
    private let key: [UInt8]

    /// Tags of a store.
    ///
    /// - Parameter key: Random bytes of the store.
    package init(key: [UInt8]) {
        self.key = key
    }

    /// The tag of a secret.
    package func tag(of secret: UnsafeRawBufferPointer) -> SecretTag {
        // Without libcrypto nothing matches anything: such responses are not reused.
        guard let digest = RunningDigest(), key.withUnsafeBytes({ digest.update($0) }), digest.update(secret),
            let value = digest.finish()
        else { return SecretTag(high: .random(in: 0...(.max)), low: .random(in: 0...(.max))) }
        return value.withBytes { bytes in
            SecretTag(
                high: bytes.loadUnaligned(as: UInt64.self), low: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
    }
}
