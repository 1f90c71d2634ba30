import TrawlHTTP
import TrawlSession

extension CookieTable {
    /// Keeps to the limits after cookies were added to domains.
    ///
    /// - Parameter domains: What the keys of each begin with.
    static func evict(
        _ domains: Set<[UInt8]>, _ limits: CookieLimits, _ now: WallTime, in transaction: borrowing Transaction
    ) throws(StoreError) {
        for domain in domains {
            try removeExcess(
                of: domain, keeping: limits.lowWater, above: limits.perDomain, limits, now, in: transaction)
        }
        let rows = try transaction.statistics(StateSchema.cookies).rows
        guard rows > UInt64(limits.highWater) else { return }
        try removeExcess(of: [], keeping: limits.total, above: limits.highWater, limits, now, in: transaction)
    }

    private static func removeExcess(
        of prefix: [UInt8], keeping count: Int, above most: Int, _ limits: CookieLimits, _ now: WallTime,
        in transaction: borrowing Transaction
    ) throws(StoreError) {
        var rows = 0
        try prefix.span.withUnsafeBytes { (prefix) throws(StoreError) in
            try transaction.scan(StateSchema.cookies, from: prefix) { key, _ in
                guard hasPrefix(key, prefix) else { return false }
                rows += 1
                return rows <= most
            }
        }
        guard rows > most else { return }
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
        for place in CookieRules.excess(candidates, keeping: count) + damaged {
            let key = keys[place]
            try key.span.withUnsafeBytes { (key) throws(StoreError) in
                _ = try transaction.delete(StateSchema.cookies, key)
            }
        }
    }
}
