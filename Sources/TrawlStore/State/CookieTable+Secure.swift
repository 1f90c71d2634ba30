import TrawlHTTP
import TrawlSession

extension CookieTable {
    /// The secure cookies of domains, of those above and of those below them: by domain, as the keys of its cookies
    /// begin, and by name.
    typealias SecureCookies = [[UInt8]: [[UInt8]: [CookieRecord]]]

    /// Whether a new cookie would hide a secure one: of its own domain, of one above, or of one below.
    ///
    /// - Parameters:
    ///   - domain: What the key of the new one begins with.
    ///   - known: What was found for others, so that a response has a domain looked through once. It holds as long as
    ///     no secure cookie is stored, and none is removed.
    static func hidesSecure(
        _ record: CookieRecord, _ domain: [UInt8], _ jar: UInt32, _ now: WallTime, _ state: StateStore?,
        _ known: inout SecureCookies, in transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        let count = state?.changes(of: .secureCookies)
        if state?.plainDomains.contains(domain, at: count) == true { return false }
        if known[domain] == nil {
            let found = try secureCookies(around: record, jar, in: transaction)
            known[domain] = found
            // What was removed is there again when the transaction comes to nothing.
            if found.isEmpty, !transaction.hasRemovedSecure { state?.plainDomains.insert(domain, at: count) }
        }
        return record.withView { new in
            let cookies = known[domain]?[Array(new.name)] ?? []
            return cookies.contains { $0.withView { CookieRules.hides(new, $0, at: now) } }
        }
    }

    /// The secure cookies of a cookie's domain, of those above and of those below, by name.
    private static func secureCookies(
        around record: CookieRecord, _ jar: UInt32, in transaction: borrowing Transaction
    ) throws(StoreError) -> [[UInt8]: [CookieRecord]] {
        var prefixes: [[UInt8]] = []
        record.withView { new in
            let target = CookieTarget(host: new.domain, path: new.path, isSecure: false)
            CookieKey.forEachPrefix(of: target, jar: jar) { prefixes.append(Array($0)) }
            if !target.isAddress { prefixes.append(CookieKey.below(new.domain, jar: jar)) }
        }
        var found: [[UInt8]: [CookieRecord]] = [:]
        for prefix in prefixes {
            try prefix.span.withUnsafeBytes { (prefix) throws(StoreError) in
                try transaction.scan(StateSchema.cookies, from: prefix) { key, row in
                    guard hasPrefix(key, prefix) else { return false }
                    // Few are secure, and only those count: the others are not looked at any further.
                    guard CookieView.mayBeSecure(CheckedRow.unchecked(row)), let stored = view(row) else { return true }
                    found[Array(stored.name), default: []].append(CookieRecord(stored))
                    return true
                }
            }
        }
        return found
    }
}
