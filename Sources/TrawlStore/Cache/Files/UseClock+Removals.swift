import CTrawlBlob

/// When answers made invalid what is stored under keys, in memory that all processes of a store share.
///
/// What was asked for before such an answer can come to be stored long after it, by any process. A key has one of some
/// thousand words. The word holds the time of the last removal and a tag of the key, or none once keys of several tags
/// had removals there: then it holds for all keys of the word. So a response is hardly ever taken for one that a
/// removal of another key has overtaken, and what that would cost is that it is not stored. A word that is lost or
/// damaged costs as little.
extension UseClock {
    /// A time that is further ahead, in milliseconds, is of a clock that was wrong.
    static let mostAhead: UInt64 = 60_000
    /// Words of the head before those of removals.
    private static let firstRemoval = 3
    /// Low bits of a word that are the tag; those above them are the time, until the year 2109.
    private static let tagBits: UInt64 = 22
    private static let tags: UInt64 = 1 << tagBits - 1

    /// Notes that what is stored under a digest was made invalid, in milliseconds since 1970. Inside a write
    /// transaction, of which there is one at a time over all processes.
    func noteRemoval(of digest: CacheDigest, at time: UInt64) {
        guard let words else { return }
        let word = removal(of: digest, words)
        let (last, lastTag) = Self.parts(cblob_load(word))
        let isFirst = last == 0 || last > time && last - time > Self.mostAhead
        let tag = isFirst || lastTag == Self.tag(of: digest) ? Self.tag(of: digest) : 0
        cblob_store(word, (isFirst ? time : max(last, time)) << Self.tagBits | tag)
    }

    /// When what is stored under a digest was last made invalid, or under another one where both cannot be told apart;
    /// 0 when it never was.
    func lastRemoval(of digest: CacheDigest) -> UInt64 {
        guard let words else { return 0 }
        let (time, tag) = Self.parts(cblob_load(removal(of: digest, words)))
        return tag == 0 || tag == Self.tag(of: digest) ? time : 0
    }

    private static func parts(_ word: UInt64) -> (time: UInt64, tag: UInt64) { (word >> tagBits, word & tags) }

    /// Not 0, which stands for several. The first eight bytes are the same for all keys of an origin.
    private static func tag(of digest: CacheDigest) -> UInt64 {
        max(1, (digest.words.0 ^ digest.words.1 >> (64 - tagBits)) & tags)
    }

    private func removal(
        of digest: CacheDigest, _ words: UnsafeMutablePointer<UInt64>
    ) -> UnsafeMutablePointer<UInt64> {
        let count = Self.headSize / 8 - Self.firstRemoval
        return words + Self.firstRemoval + Int(digest.words.1 % UInt64(count))
    }
}
