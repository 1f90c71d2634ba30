/// A record, as a look-up found it: what to keep, to say later that it was used, or is to be changed or removed.
package struct CacheUse: Hashable, Sendable {
    /// Whose record.
    package let digest: CacheDigest
    /// Which record.
    package let sequence: UInt64
    /// Where its last use is noted.
    let slot: UInt64

    /// Where its last use is noted is no part of which record it is: eviction changes that.
    package static func == (one: CacheUse, other: CacheUse) -> Bool {
        one.sequence == other.sequence && one.digest == other.digest
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(sequence)
        hasher.combine(digest)
    }

    /// A record known by its sequence alone.
    package init(digest: CacheDigest, sequence: UInt64) {
        self.init(digest: digest, sequence: sequence, slot: 0)
    }

    init(digest: CacheDigest, sequence: UInt64, slot: UInt64) {
        self.digest = digest
        self.sequence = sequence
        self.slot = slot
    }
}
