import TrawlHTTP
import TrawlSession

extension CookieTable {
    /// The secure cookies that those of one response could hide.
    struct SecureCookies {
        private let received: [ReceivedCookie]
        /// The names of what must hide none. `CookieRules.hides` asks for equal ones, so that others need not be kept.
        private(set) lazy var names: Set<[UInt8]> = Set(
            received.filter(\.mustSpareSecure).map { cookie in cookie.record.withView { Array($0.name) } })
        /// Those of domains, of the ones above and of the ones below them: by domain, as the keys of its cookies begin,
        /// and by name.
        var known: [[UInt8]: [[UInt8]: [CookieRecord]]] = [:]

        init(hiddenBy received: [ReceivedCookie]) { self.received = received }
    }

    /// Whether a new cookie would hide a secure one: of its own domain, of one above, or of one below.
    ///
    /// - Parameters:
    ///   - domain: What the key of the new one begins with.
    ///   - secure: What was found for others, so that a response has a domain looked through once. It holds as long as
    ///     no secure cookie is stored, and none is removed.
    static func hidesSecure(
        _ record: CookieRecord, _ domain: [UInt8], _ jar: UInt32, _ now: WallTime, _ state: StateStore?,
        _ secure: inout SecureCookies, in transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        let count = state?.changes(of: .secureCookies)
        if state?.plainDomains.contains(domain, at: count) == true { return false }
        if secure.known[domain] == nil {
            let (found, isPlain) = try secureCookies(around: record, secure.names, jar, in: transaction)
            secure.known[domain] = found
            // What was removed is there again when the transaction comes to nothing.
            if isPlain, !transaction.hasRemovedSecure { state?.plainDomains.insert(domain, at: count) }
        }
        return record.withView { new in
            let cookies = secure.known[domain]?[Array(new.name)] ?? []
            return cookies.contains { $0.withView { CookieRules.hides(new, $0, at: now) } }
        }
    }

    /// The secure cookies of a cookie's domain, of those above and of those below, by name: those that have one of these
    /// names, and whether there are none of any name.
    static func secureCookies(
        around record: CookieRecord, _ names: Set<[UInt8]>, _ jar: UInt32, in transaction: borrowing Transaction
    ) throws(StoreError) -> (found: [[UInt8]: [CookieRecord]], isPlain: Bool) {
        var prefixes: [[UInt8]] = []
        record.withView { new in
            let target = CookieTarget(host: new.domain, path: new.path, isSecure: false)
            CookieKey.forEachPrefix(of: target, jar: jar) { prefixes.append(Array($0)) }
            if !target.isAddress { prefixes.append(CookieKey.below(new.domain, jar: jar)) }
        }
        var found: [[UInt8]: [CookieRecord]] = [:]
        var isPlain = true
        for prefix in prefixes {
            try prefix.span.withUnsafeBytes { (prefix) throws(StoreError) in
                try transaction.scan(StateSchema.cookies, from: prefix) { key, row in
                    guard hasPrefix(key, prefix) else { return false }
                    // Few are secure, and only those count: the others are not looked at any further.
                    guard CookieView.mayBeSecure(CheckedRow.unchecked(row)), let stored = view(row) else { return true }
                    isPlain = false
                    let name = Array(stored.name)
                    if names.contains(name) { found[name, default: []].append(CookieRecord(stored)) }
                    return true
                }
            }
        }
        return (found, isPlain)
    }
}
