import TrawlHTTP
import TrawlSession

extension CookieTable {
    /// Whether a new cookie would hide a secure one: of its own domain, of one above, or of one below.
    static func hidesSecure(
        _ record: CookieRecord, _ jar: UInt32, _ now: WallTime, _ state: StateStore?,
        in transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        let domain = record.withView { CookieKey.domain($0.domain, jar: jar) }
        let count = state?.changes(of: .secureCookies)
        if state?.plainDomains.contains(domain, at: count) == true { return false }
        var prefixes: [[UInt8]] = []
        record.withView { new in
            let target = CookieTarget(host: new.domain, path: new.path, isSecure: false)
            CookieKey.forEachPrefix(of: target, jar: jar) { prefixes.append(Array($0)) }
            if !target.isAddress { prefixes.append(CookieKey.below(new.domain, jar: jar)) }
        }
        var isFound = false
        var isPlain = true
        for prefix in prefixes where !isFound {
            try prefix.span.withUnsafeBytes { (prefix) throws(StoreError) in
                try transaction.scan(StateSchema.cookies, from: prefix) { key, row in
                    guard hasPrefix(key, prefix) else { return false }
                    // Few are secure, and only those count: the others are not looked at any further.
                    guard CookieView.mayBeSecure(CheckedRow.unchecked(row)), let stored = view(row) else { return true }
                    isPlain = false
                    isFound = record.withView { CookieRules.hides($0, stored, at: now) }
                    return !isFound
                }
            }
        }
        // What was removed is there again when the transaction comes to nothing.
        if isPlain, !transaction.hasRemoved { state?.plainDomains.insert(domain, at: count) }
        return isFound
    }
}
