import TrawlHTTP
import TrawlSession

extension CookieTable {
    /// How much may be there, and how much is left when there is more.
    private struct Bounds {
        var rows: (most: Int, kept: Int)
        var bytes = (most: Int.max, kept: Int.max)
    }

    /// Keeps to the limits after cookies were added to domains, or became longer there.
    ///
    /// - Parameter domains: What the keys of each begin with.
    static func evict(
        _ domains: Set<[UInt8]>, _ limits: CookieLimits, _ now: WallTime, in transaction: borrowing Transaction
    ) throws(StoreError) {
        let ofDomain = Bounds(
            rows: (limits.perDomain, limits.lowWater), bytes: (limits.bytesPerDomain, limits.lowWaterBytes))
        for domain in domains { try removeExcess(of: domain, ofDomain, limits, now, in: transaction) }
        let rows = try transaction.statistics(StateSchema.cookies).rows
        guard rows > UInt64(limits.highWater) else { return }
        let ofAll = Bounds(rows: (limits.highWater, limits.total))
        try removeExcess(of: [], ofAll, limits, now, in: transaction)
    }

    private static func removeExcess(
        of prefix: [UInt8], _ bounds: Bounds, _ limits: CookieLimits, _ now: WallTime,
        in transaction: borrowing Transaction
    ) throws(StoreError) {
        var (rows, bytes) = (0, 0)
        var isTooMuch: Bool { rows > bounds.rows.most || bytes > bounds.bytes.most }
        try prefix.span.withUnsafeBytes { (prefix) throws(StoreError) in
            try transaction.scan(StateSchema.cookies, from: prefix) { key, row in
                guard hasPrefix(key, prefix) else { return false }
                rows += 1
                bytes += CheckedRow.unchecked(row).count
                return !isTooMuch
            }
        }
        guard isTooMuch else { return }
        var keys: [[UInt8]] = []
        var candidates: [EvictionCandidate] = []
        // The cookies of a domain are neighbours.
        var group = (start: 0, key: [UInt8]())
        func endGroup() {
            guard candidates.count - group.start > limits.crowded else { return }
            for index in group.start..<candidates.count { candidates[index].isCrowded = true }
        }
        try prefix.span.withUnsafeBytes { (prefix) throws(StoreError) in
            try transaction.scan(StateSchema.cookies, from: prefix) { key, row in
                guard hasPrefix(key, prefix) else { return false }
                let domain = key.prefix(max(0, key.count - 16))
                if !group.key.elementsEqual(domain) {
                    endGroup()
                    group = (candidates.count, Array(domain))
                }
                keys.append(Array(key))
                guard let cookie = view(row) else { return true }
                candidates.append(EvictionCandidate(cookie, place: keys.count - 1, isCrowded: false, at: now))
                return true
            }
        }
        endGroup()
        if candidates.contains(where: \.isSecure) { transaction.noteRemovedSecure() }
        let sound = Set(candidates.map(\.place))
        let damaged = keys.indices.filter { !sound.contains($0) }
        for place in CookieRules.excess(candidates, keeping: bounds.rows.kept, bytes: bounds.bytes.kept) + damaged {
            let key = keys[place]
            try key.span.withUnsafeBytes { (key) throws(StoreError) in
                _ = try transaction.delete(StateSchema.cookies, key)
            }
        }
    }
}
