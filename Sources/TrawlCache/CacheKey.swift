package import TrawlHTTP

/// What stored responses are found by: the target URI without fragment and user information.
///
/// Only responses that may answer GET are stored, so the method is not part of it: HEAD is answered from them, and a
/// storable answer to POST answers a later GET (RFC 9110 §9.3.3). The trailing slash and the query are significant.
///
/// - Source: RFC 9111 §2.
package struct CacheKey: Sendable, Hashable {
    /// The key as text. Its UTF-8 bytes are what a digest is made of.
    package var text: String

    /// The key of a target that is already normalised.
    package init(_ target: TargetURI) {
        text = target.text
    }

    /// A key read back from a record.
    package init(text: String) {
        self.text = text
    }
}

/// Stands for a secret in records: the same for equal secrets, and of no use to who reads it.
///
/// Made outside with a keyed digest of the store, so that a credential or cookie is never written into the cache.
package struct SecretTag: Sendable, Hashable {
    /// Half of the digest.
    package var high: UInt64
    /// The other half.
    package var low: UInt64

    /// A tag of its halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The tag of several secrets in their order, of which this is the last.
    func following(_ others: SecretTag?) -> SecretTag {
        guard let others else { return self }
        return SecretTag(
            high: (others.high &* 0x9E37_79B9_7F4A_7C15) ^ high, low: (others.low &* 0x9E37_79B9_7F4A_7C15) ^ low)
    }
}
