import TrawlStore

/// Fetches that identical ones may wait for, by the digest of their cache key.
///
/// Every fetch that goes to the network is entered and taken out again, which in a dictionary takes as long as encoding
/// its lease. The second half of a digest is as good as a random number already (the first is that of its origin, which
/// many share); the factor keeps those who choose URLs from choosing where they meet.
struct LeaderTable {
    private struct Node {
        var digest: CacheDigest
        var fetch: FetchKey
        var next: Int32
    }

    private static let none: Int32 = -1

    private let factor = UInt64.random(in: 0 ... .max) | 1
    private var nodes: [Node] = []
    private var firstFree = LeaderTable.none
    private var buckets = [Int32](repeating: LeaderTable.none, count: 256)
    /// How many there are.
    private(set) var count = 0

    /// The fetch that leads those of a digest.
    subscript(digest: CacheDigest) -> FetchKey? {
        var index = buckets[bucket(of: digest)]
        while index != Self.none {
            let node = nodes[Int(index)]
            if node.digest == digest { return node.fetch }
            index = node.next
        }
        return nil
    }

    /// Lets a fetch lead, in place of whichever did.
    mutating func set(_ fetch: FetchKey, for digest: CacheDigest) {
        remove(digest)
        if count == 2 * buckets.count { grow() }
        let place = bucket(of: digest)
        let node = Node(digest: digest, fetch: fetch, next: buckets[place])
        if firstFree == Self.none {
            buckets[place] = Int32(truncatingIfNeeded: nodes.count)
            nodes.append(node)
        } else {
            let free = firstFree
            firstFree = nodes[Int(free)].next
            nodes[Int(free)] = node
            buckets[place] = free
        }
        count += 1
    }

    /// Nobody leads those of a digest any more.
    mutating func remove(_ digest: CacheDigest) {
        let place = bucket(of: digest)
        var before = Self.none
        var index = buckets[place]
        while index != Self.none {
            let node = nodes[Int(index)]
            if node.digest == digest {
                if before == Self.none { buckets[place] = node.next } else { nodes[Int(before)].next = node.next }
                nodes[Int(index)].next = firstFree
                firstFree = index
                count -= 1
                return
            }
            before = index
            index = node.next
        }
    }

    private func bucket(of digest: CacheDigest) -> Int {
        Int(truncatingIfNeeded: (digest.words.1 &* factor) >> UInt64(64 - buckets.count.trailingZeroBitCount))
    }

    private mutating func grow() {
        var live: [Int32] = []
        for first in buckets {
            var index = first
            while index != Self.none {
                live.append(index)
                index = nodes[Int(index)].next
            }
        }
        buckets = [Int32](repeating: Self.none, count: 2 * buckets.count)
        for index in live {
            let place = bucket(of: nodes[Int(index)].digest)
            nodes[Int(index)].next = buckets[place]
            buckets[place] = index
        }
    }
}
