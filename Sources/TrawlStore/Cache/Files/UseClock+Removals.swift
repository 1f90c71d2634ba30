import CBlob

/// When answers made invalid what is stored under keys, in memory that all processes of a store share.
///
/// What was asked for before such an answer can come to be stored long after it, by any process. Each key has one of
/// some hundred words, with others: what is lost by that is one response that is not stored. A word that is lost or
/// damaged costs as little.
extension UseClock {
    /// A time that is further ahead, in milliseconds, is of a clock that was wrong.
    static let mostAhead: UInt64 = 60_000
    /// Words of the head before those of removals.
    private static let firstRemoval = 3

    /// Notes that what is stored under a digest was made invalid, in milliseconds since 1970. Inside a write
    /// transaction, of which there is one at a time over all processes.
    func noteRemoval(of digest: CacheDigest, at time: UInt64) {
        guard let words else { return }
        let word = removal(of: digest, words)
        let last = cblob_load(word)
        if last < time || last - time > Self.mostAhead { cblob_store(word, time) }
    }

    /// When what is stored under a digest, or under another one of its word, was last made invalid; 0 when it never was.
    func lastRemoval(of digest: CacheDigest) -> UInt64 {
        words.map { cblob_load(removal(of: digest, $0)) } ?? 0
    }

    private func removal(
        of digest: CacheDigest, _ words: UnsafeMutablePointer<UInt64>
    ) -> UnsafeMutablePointer<UInt64> {
        let count = Self.headSize / 8 - Self.firstRemoval
        return words + Self.firstRemoval + Int(digest.words.1 % UInt64(count))
    }
}
