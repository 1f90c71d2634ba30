import TrawlHTTP
import TrawlSession

extension CookieTable {
    /// Keeps to the limits after cookies were added to domains, or became longer there.
    ///
    /// - Parameter domains: What the keys of each begin with.
    static func evict(
        _ domains: Set<[UInt8]>, _ limits: CookieLimits, _ now: WallTime, in transaction: borrowing Transaction
    ) throws(StoreError) {
        for domain in domains {
            guard try hasMore(than: limits.perDomain, limits.bytesPerDomain, of: domain, in: transaction) else {
                continue
            }
            try remove(of: domain, now, in: transaction) { domains in
                CookieRules.excess(ofDomain: domains.flatMap { $0 }, limits)
            }
        }
        let rows = try transaction.statistics(StateSchema.cookies).rows
        guard rows > UInt64(limits.highWater) else { return }
        try remove(of: [], now, in: transaction) { CookieRules.excess(ofAll: $0, limits) }
    }

    /// Whether a domain has more cookies than so many, or more bytes of them.
    private static func hasMore(
        than mostRows: Int, _ mostBytes: Int, of domain: [UInt8], in transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        var (rows, bytes) = (0, 0)
        var isTooMuch: Bool { rows > mostRows || bytes > mostBytes }
        try domain.span.withUnsafeBytes { (domain) throws(StoreError) in
            try transaction.scan(StateSchema.cookies, from: domain) { key, row in
                guard hasPrefix(key, domain) else { return false }
                rows += 1
                bytes += CheckedRow.unchecked(row).count
                return !isTooMuch
            }
        }
        return isTooMuch
    }

    /// Removes some of the cookies whose keys have a prefix, and what is damaged among them.
    ///
    /// - Parameter excess: The places of those that go, from the cookies of each domain.
    private static func remove(
        of prefix: [UInt8], _ now: WallTime, in transaction: borrowing Transaction,
        _ excess: ([[EvictionCandidate]]) -> [Int]
    ) throws(StoreError) {
        var keys: [[UInt8]] = []
        var gone: [Int] = []
        // The cookies of a domain are neighbours.
        var domains: [[EvictionCandidate]] = []
        var last: [UInt8]?
        var hasSecure = false
        try prefix.span.withUnsafeBytes { (prefix) throws(StoreError) in
            try transaction.scan(StateSchema.cookies, from: prefix) { key, row in
                guard hasPrefix(key, prefix) else { return false }
                let domain = key.prefix(max(0, key.count - 16))
                if last?.elementsEqual(domain) != true {
                    domains.append([])
                    last = Array(domain)
                }
                keys.append(Array(key))
                guard let cookie = view(row) else {
                    gone.append(keys.count - 1)
                    return true
                }
                let candidate = EvictionCandidate(cookie, place: keys.count - 1, at: now)
                if candidate.isSecure { hasSecure = true }
                domains[domains.count - 1].append(candidate)
                return true
            }
        }
        if hasSecure { transaction.noteRemovedSecure() }
        for place in excess(domains) + gone {
            let key = keys[place]
            try key.span.withUnsafeBytes { (key) throws(StoreError) in
                _ = try transaction.delete(StateSchema.cookies, key)
            }
        }
    }
}
