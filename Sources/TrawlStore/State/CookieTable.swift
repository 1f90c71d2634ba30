import CTrawlBlob
import Glibc
package import TrawlHTTP
package import TrawlSession

/// The cookies of the jars of a store: the rules of `TrawlSession` over the tables `cookies` and `jars`.
///
/// A jar is known by its name, at most 255 bytes; the empty name is the shared one, number 0. Others get a number with
/// their first cookie.
package enum CookieTable {
    /// How many cookies a store keeps: more than one browser does, since it serves many processes and hosts. A domain
    /// may have so many that writers beside one another do not push out each other's.
    package static let limits = CookieLimits(perDomain: 1000, total: 20_000, crowded: 180)
    /// Bytes of a jar's name.
    package static let nameLimit = 255

    // MARK: Reading

    /// Offers all that can go along with a request.
    package static func offer(
        to selection: inout CookieSelection, for target: CookieTarget, jar name: String, _ snapshot: borrowing Snapshot
    ) throws(StoreError) {
        guard let jar = try number(of: name, snapshot) else { return }
        var failure: StoreError?
        let handle = snapshot.handle
        CookieKey.forEachPrefix(of: target, jar: jar, hasTopLevel: false) { prefix in
            guard failure == nil else { return }
            do throws(StoreError) {
                try handle.snapshot.scan(StateSchema.cookies, from: prefix) { key, row in
                    guard hasPrefix(key, prefix) else { return false }
                    // What is damaged goes with the next cookie of its identity, or when the domain is full.
                    if let cookie = view(row) { selection.offer(cookie) }
                    return true
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// The stored cookie that a new one would replace; nil when there is none.
    package static func withSame<Result>(
        as cookie: CookieView, jar name: String, _ snapshot: borrowing Snapshot, _ body: (CookieView) -> Result
    ) throws(StoreError) -> Result? {
        guard let jar = try number(of: name, snapshot) else { return nil }
        let row = try key(jar, cookie).span.withUnsafeBytes { (key) throws(StoreError) in
            try snapshot.get(StateSchema.cookies, key)
        }
        return row.flatMap(view).map(body)
    }

    /// All cookies of a jar, in the order of the table.
    package static func forEach(
        in name: String, _ snapshot: borrowing Snapshot, _ body: (CookieView) -> Void
    ) throws(StoreError) {
        guard let jar = try number(of: name, snapshot) else { return }
        let start = CookieKey.jar(jar)
        try start.span.withUnsafeBytes { (start) throws(StoreError) in
            try snapshot.scan(StateSchema.cookies, from: start) { key, row in
                guard hasPrefix(key, start) else { return false }
                view(row).map(body)
                return true
            }
        }
    }

    /// The names of the jars that were ever used beside the shared one.
    package static func jars(_ snapshot: borrowing Snapshot) throws(StoreError) -> [String] {
        var names: [String] = []
        try snapshot.scan(StateSchema.jars, from: UnsafeRawBufferPointer(start: nil, count: 0)) { name, row in
            if CheckedRow.content(row) != nil { names.append(FieldLines.text(name)) }
            return true
        }
        return names
    }

    /// Whether there is no cookie in any jar.
    package static func isEmpty(_ snapshot: borrowing Snapshot) throws(StoreError) -> Bool {
        try snapshot.statistics(StateSchema.cookies).rows == 0
    }

    private static func number(of name: String, _ snapshot: borrowing Snapshot) throws(StoreError) -> UInt32? {
        if name.isEmpty { return 0 }
        let row = try Array(name.utf8).span.withUnsafeBytes { (name) throws(StoreError) in
            try snapshot.get(StateSchema.jars, name)
        }
        return row.flatMap(number)
    }

    // MARK: Writing

    /// Stores cookies, without those that would hide a secure one.
    ///
    /// Limits are looked after when all are stored, since that takes a look at all cookies of a domain.
    ///
    /// - Parameter state: The store whose environment it is, which knows what others have stored; nil for who has the
    ///   environment to itself.
    /// - Returns: What each changed; nil for one that was not stored.
    @discardableResult
    package static func store(
        _ received: [ReceivedCookie], jar name: String, at now: WallTime,
        in transaction: borrowing Transaction, limits: CookieLimits = limits, state: StateStore? = nil
    ) throws(StoreError) -> [CookieChange?] {
        var changes: [CookieChange?] = []
        var grown: Set<[UInt8]> = []
        var secure = SecureCookies(hiddenBy: received)
        for cookie in received {
            guard let jar = try number(of: name, makes: !cookie.isExpired, in: transaction) else {
                changes.append(.nothing)
                continue
            }
            let key = cookie.record.withView { Self.key(jar, $0) }
            let domain = CookieKey.domain(of: key)
            if !cookie.mustSpareSecure {
                // It may be secure, or remove one that is. Those of a response that must spare them are not and do not.
                secure.known = [:]
            } else if try hidesSecure(cookie.record, domain, jar, now, state, &secure, in: transaction) {
                changes.append(nil)
                continue
            }
            let (change, grows) = try store(cookie, key, at: now, in: transaction, state)
            changes.append(change)
            if grows { grown.insert(domain) }
        }
        if !grown.isEmpty { try evict(grown, limits, now, in: transaction) }
        return changes
    }

    /// Stores one cookie: what that changed, and whether its domain has more of them, or longer ones, by it.
    private static func store(
        _ received: ReceivedCookie, _ key: [UInt8], at now: WallTime, in transaction: borrowing Transaction,
        _ state: StateStore?
    ) throws(StoreError) -> (change: CookieChange, grows: Bool) {
        var received = received
        let order = transaction.nextOrder()
        return try key.span.withUnsafeBytes { (key) throws(StoreError) -> (change: CookieChange, grows: Bool) in
            // Valid until the next change.
            let old = try transaction.get(StateSchema.cookies, key).flatMap(view)
            // A digest that two identities share is no reason to take over the other's age.
            let same = old.flatMap { old in received.record.withView { CookieRules.isSame($0, old) } ? old : nil }
            // What several fetches brought at a time is mostly the same.
            if let same, received.changesNothing(of: same, at: now) { return (.nothing, false) }
            if case .nothing = received.settle(replacing: same, order: order, at: now) { return (.nothing, false) }
            // What ends with a session does not have to outlive the machine.
            if received.record.isPersistent || old?.flags.contains(.persistent) == true { transaction.requestSync() }
            let change: CookieChange = old == nil ? .insert : .replace
            let grows = received.record.bytes.count > old?.record.count ?? 0
            let wasSecure = old?.flags.contains(.secure) == true
            let isSecure = received.record.isSecure && !received.isExpired
            if wasSecure, !isSecure { transaction.noteRemovedSecure() }
            if isSecure, !wasSecure { state?.raise(.secureCookies) }
            if received.isExpired {
                try transaction.delete(StateSchema.cookies, key)
                return (.remove, false)
            }
            try put(received.record, key, in: transaction)
            return (change, grows)
        }
    }

    /// Notes that cookies were sent.
    package static func touch(
        _ cookies: [CookieRecord], jar name: String, at now: WallTime, in transaction: borrowing Transaction
    ) throws(StoreError) {
        guard let jar = try number(of: name, makes: false, in: transaction) else { return }
        for cookie in cookies {
            let key = cookie.withView { Self.key(jar, $0) }
            let stored: CookieRecord? = try key.span.withUnsafeBytes { (key) throws(StoreError) in
                let row = try transaction.get(StateSchema.cookies, key)
                return row.flatMap(view).map { CookieRecord($0) }
            }
            guard var stored, stored.withView({ CookieRules.isWorthTouching($0, at: now) }) else { continue }
            stored.touch(at: now)
            try key.span.withUnsafeBytes { (key) throws(StoreError) in try put(stored, key, in: transaction) }
        }
    }

    /// Removes those that satisfy a condition, and what is damaged: how many were meant.
    ///
    /// - Parameter name: Of a jar; nil is all jars.
    package static func remove(
        from name: String?, in transaction: borrowing Transaction, where condition: (CookieView) -> Bool
    ) throws(StoreError) -> Int {
        var start: [UInt8] = []
        if let name {
            guard let jar = try number(of: name, makes: false, in: transaction) else { return 0 }
            start = CookieKey.jar(jar)
        }
        var gone: [[UInt8]] = []
        var count = 0
        var isPersistent = false
        var hasSecure = false
        try start.span.withUnsafeBytes { (start) throws(StoreError) in
            try transaction.scan(StateSchema.cookies, from: start) { key, row in
                guard hasPrefix(key, start) else { return false }
                if let cookie = view(row) {
                    guard condition(cookie) else { return true }
                    count += 1
                    if cookie.flags.contains(.persistent) { isPersistent = true }
                    if cookie.flags.contains(.secure) { hasSecure = true }
                }
                gone.append(Array(key))
                return true
            }
        }
        for key in gone {
            try key.span.withUnsafeBytes { (key) throws(StoreError) in
                _ = try transaction.delete(StateSchema.cookies, key)
            }
        }
        if isPersistent { transaction.requestSync() }
        if hasSecure { transaction.noteRemovedSecure() }
        return count
    }

    // MARK: Parts

    private static func put(
        _ record: CookieRecord, _ key: UnsafeRawBufferPointer, in transaction: borrowing Transaction
    ) throws(StoreError) {
        try record.bytes.span.withUnsafeBytes { (content) throws(StoreError) in
            try CheckedRow.withRow(of: content) { row throws(StoreError) in
                try transaction.put(StateSchema.cookies, key, row)
            }
        }
    }

    /// The number of a jar; a new one when there is none and one is wanted.
    private static func number(
        of name: String, makes: Bool, in transaction: borrowing Transaction
    ) throws(StoreError) -> UInt32? {
        if name.isEmpty { return 0 }
        return try Array(name.utf8).span.withUnsafeBytes { (name) throws(StoreError) in
            if let row = try transaction.get(StateSchema.jars, name), let number = number(row) { return number }
            guard makes else { return nil }
            var last: UInt32 = 0
            try transaction.scan(StateSchema.jars, from: UnsafeRawBufferPointer(start: nil, count: 0)) { _, row in
                last = max(last, number(row) ?? 0)
                return true
            }
            var next = (last + 1).littleEndian
            try withUnsafeBytes(of: &next) { next throws(StoreError) in
                try CheckedRow.withRow(of: next) { row throws(StoreError) in
                    try transaction.put(StateSchema.jars, name, row)
                }
            }
            transaction.requestSync()
            return last + 1
        }
    }

    private static func number(_ row: UnsafeRawBufferPointer) -> UInt32? {
        guard let content = CheckedRow.content(row), content.count == 4 else { return nil }
        let number = UInt32(littleEndian: content.loadUnaligned(as: UInt32.self))
        return number > 0 && number < .max ? number : nil
    }

    private static func key(_ jar: UInt32, _ cookie: CookieView) -> [UInt8] {
        CookieKey.key(jar: jar, of: cookie) { identity in
            var digest = CookieDigest(high: 0, low: 0)
            cblob_hash(identity.baseAddress, identity.count, &digest.high, &digest.low)
            return digest
        }
    }

    @inline(__always)
    static func view(_ row: UnsafeRawBufferPointer) -> CookieView? {
        CheckedRow.content(row).flatMap { try? CookieView($0) }
    }

    @inline(__always)
    static func hasPrefix(_ key: UnsafeRawBufferPointer, _ prefix: UnsafeRawBufferPointer) -> Bool {
        guard key.count >= prefix.count else { return false }
        guard let key = key.baseAddress, let start = prefix.baseAddress else { return true }
        return memcmp(key, start, prefix.count) == 0
    }
}
