package import TrawlHTTP

/// The cookies of one session, in memory.
///
/// A store on disk follows the same rules with the same functions; this is what they mean together.
package struct CookieJar: Sendable {
    /// How many cookies are kept and sent.
    package let limits: CookieLimits
    /// How many there are, those whose time is over among them until they are looked at.
    package private(set) var count = 0
    /// Grows with every change.
    package private(set) var generation: UInt64 = 0

    private struct Group: Sendable {
        var key: Int
        var cookies: [CookieRecord] = []
        /// Bytes of all of them.
        var bytes = 0
        /// How many of them are for secure connections.
        var secure = 0
    }

    /// The cookies of one domain each, or of domains with the same hash, which the rules tell apart.
    private var groups: [Group] = []
    /// From the hash of a domain to its group.
    private var places: [Int: Int] = [:]
    /// Groups without cookies.
    private var free: [Int] = []
    /// How many secure cookies there are below a domain, by the hash of their name and that domain.
    private var secureBelow: [Int: Int] = [:]
    private var nextOrder: UInt64 = 1

    /// An empty jar.
    package init(limits: CookieLimits = CookieLimits()) {
        self.limits = limits
    }

    // MARK: Storing

    /// Stores what a `Set-Cookie` line from a target says.
    @discardableResult
    package mutating func receive(
        _ line: UnsafeRawBufferPointer, from target: CookieTarget, under conditions: CookieConditions = .init(),
        at now: WallTime
    ) throws(CookieRefusal) -> CookieChange {
        let received = try CookieRules.receive(line, from: target, under: conditions, at: now)
        if received.mustSpareSecure, hidesSecure(received.record, at: now) { throw .hidesSecure }
        return store(received, at: now)
    }

    /// Stores a cookie of the program's own.
    @discardableResult
    package mutating func set(_ record: CookieRecord, at now: WallTime) -> CookieChange {
        store(ReceivedCookie(own: record, at: now), at: now)
    }

    private mutating func store(_ received: ReceivedCookie, at now: WallTime) -> CookieChange {
        var received = received
        let key = received.record.withView { Self.hash($0.domain) }
        let group = places[key]
        let place = group.flatMap { group in
            received.record.withView { new in
                groups[group].cookies.firstIndex { $0.withView { CookieRules.isSame($0, new) } }
            }
        }
        let change: CookieChange
        if let group, let place {
            let old = groups[group].cookies[place]
            change = old.withView { received.settle(replacing: $0, order: nextOrder, at: now) }
        } else {
            change = received.settle(replacing: nil, order: nextOrder, at: now)
        }
        switch change {
        case .nothing:
            return change
        case .insert:
            insert(received.record, key: key)
            evict(from: key, at: now)
        case .replace:
            if let group, let place {
                let old = groups[group].cookies[place]
                groups[group].cookies[place] = received.record
                groups[group].bytes += received.record.bytes.count - old.bytes.count
                // Name and domain are the same.
                if isSecure(old) != isSecure(received.record) {
                    note(old, in: group, by: -1)
                    note(received.record, in: group, by: 1)
                }
                evict(from: key, at: now)
            }
        case .remove:
            if let group, let place { remove([place], from: group) }
        }
        nextOrder += 1
        generation += 1
        return change
    }

    private mutating func insert(_ record: CookieRecord, key: Int) {
        var group = places[key] ?? -1
        if group < 0 {
            if let place = free.popLast() {
                group = place
                groups[group].key = key
            } else {
                group = groups.count
                groups.append(Group(key: key))
            }
            places[key] = group
        }
        groups[group].cookies.append(record)
        groups[group].bytes += record.bytes.count
        note(record, in: group, by: 1)
        count += 1
    }

    /// Counts a cookie among the secure ones, when it is one.
    private mutating func note(_ record: CookieRecord, in group: Int, by change: Int) {
        record.withView { cookie in
            guard cookie.flags.contains(.secure) else { return }
            groups[group].secure += change
            if CookieTarget.isAddress(cookie.domain) { return }
            CookieTarget.forEachDomain(above: cookie.domain) { domain in
                let key = Self.hash(domain, cookie.name)
                let left = secureBelow[key, default: 0] + change
                secureBelow[key] = left == 0 ? nil : left
            }
        }
    }

    /// Whether a new cookie would hide a secure one: of its own domain, of one above, or of one below.
    private func hidesSecure(_ record: CookieRecord, at now: WallTime) -> Bool {
        record.withView { new in
            var isFound = false
            let look = { (group: Group) in
                guard group.secure > 0, !isFound else { return }
                isFound = group.cookies.contains { $0.withView { CookieRules.hides(new, $0, at: now) } }
            }
            if let group = places[Self.hash(new.domain)] { look(groups[group]) }
            CookieTarget.forEachDomain(above: new.domain) { domain in
                if let group = places[Self.hash(domain)] { look(groups[group]) }
            }
            // Few new cookies have a secure one of their name below their domain.
            if !isFound, secureBelow[Self.hash(new.domain, new.name)] != nil { groups.forEach(look) }
            return isFound
        }
    }

    private func isSecure(_ record: CookieRecord) -> Bool { record.withView { $0.flags.contains(.secure) } }

    // MARK: Throwing away

    /// Keeps to the limits after one was added, or changed.
    private mutating func evict(from key: Int, at now: WallTime) {
        if let group = places[key],
            groups[group].cookies.count > limits.perDomain || groups[group].bytes > limits.bytesPerDomain
        {
            remove(Set(CookieRules.excess(ofDomain: candidates(of: group, first: 0, at: now), limits)), from: group)
        }
        guard count > limits.highWater else { return }
        var domains: [[EvictionCandidate]] = []
        var owners: [(group: Int, first: Int)] = []
        var first = 0
        for group in groups.indices where !groups[group].cookies.isEmpty {
            owners.append((group, first))
            domains.append(candidates(of: group, first: first, at: now))
            first += groups[group].cookies.count
        }
        let excess = CookieRules.excess(ofAll: domains, limits).sorted()
        var next = 0
        for owner in owners {
            let end = owner.first + groups[owner.group].cookies.count
            var gone: Set<Int> = []
            while next < excess.count, excess[next] < end {
                gone.insert(excess[next] - owner.first)
                next += 1
            }
            if !gone.isEmpty { remove(gone, from: owner.group) }
        }
    }

    private func candidates(of group: Int, first: Int, at now: WallTime) -> [EvictionCandidate] {
        groups[group].cookies.enumerated().map { index, cookie in
            cookie.withView { EvictionCandidate($0, place: first + index, at: now) }
        }
    }

    private mutating func remove(_ gone: Set<Int>, from group: Int) {
        for index in gone {
            let cookie = groups[group].cookies[index]
            note(cookie, in: group, by: -1)
            groups[group].bytes -= cookie.bytes.count
        }
        if gone.count == 1, let index = gone.first {
            groups[group].cookies.remove(at: index)
        } else {
            groups[group].cookies = groups[group].cookies.enumerated().filter { !gone.contains($0.offset) }
                .map(\.element)
        }
        count -= gone.count
        if groups[group].cookies.isEmpty {
            places[groups[group].key] = nil
            groups[group].cookies = []
            free.append(group)
        }
    }

    /// Removes those that satisfy a condition; says how many.
    @discardableResult
    package mutating func remove(where condition: (CookieView) -> Bool) -> Int {
        let before = count
        for group in groups.indices where !groups[group].cookies.isEmpty {
            let cookies = groups[group].cookies
            let gone = cookies.indices.filter { cookies[$0].withView(condition) }
            if !gone.isEmpty { remove(Set(gone), from: group) }
        }
        if count != before { generation += 1 }
        return before - count
    }

    /// Removes those that a session accepted, however long they would last.
    @discardableResult
    package mutating func removeAccepted(in session: UInt64) -> Int {
        remove { $0.session == session }
    }

    /// Removes all.
    package mutating func removeAll() {
        remove { _ in true }
    }

    // MARK: Sending

    /// The value of the `Cookie` field of a request; nil when there is nothing to say. Notes which cookies were used.
    package mutating func field(
        for target: CookieTarget, manual: [ManualCookie] = [], at now: WallTime
    ) -> [UInt8]? {
        selected(for: target, manual: manual, at: now).field
    }

    /// The same, and when one of the cookies in it ends, or was to be noted as used (`CookieSelection.steadyUntil`).
    package mutating func selected(
        for target: CookieTarget, manual: [ManualCookie], at now: WallTime
    ) -> (field: [UInt8]?, steadyUntil: WallTime?) {
        var selection = CookieSelection(for: target, at: now)
        var stale: [(group: Int, place: Int)] = []
        offer(to: &selection, for: target) { group, place, cookie in
            if CookieRules.isWorthTouching(cookie, at: now) { stale.append((group, place)) }
        }
        let field = selection.field(manual: manual, limit: limits.fieldLength)
        let steadyUntil = selection.steadyUntil
        for use in stale { groups[use.group].cookies[use.place].touch(at: now) }
        return (field, steadyUntil)
    }

    /// The cookies that go along with a request, in the order in which they are sent.
    package func cookies(for target: CookieTarget, at now: WallTime) -> [Cookie] {
        var selection = CookieSelection(for: target, at: now)
        offer(to: &selection, for: target) { _, _, _ in }
        var cookies: [Cookie] = []
        selection.forEach { cookies.append(Cookie($0)) }
        return cookies
    }

    /// Offers the cookies of the host and all domains above it. The records lie in arrays of the jar, which stay where
    /// they are as long as nobody changes it.
    private func offer(
        to selection: inout CookieSelection, for target: CookieTarget,
        taken: (_ group: Int, _ place: Int, _ cookie: CookieView) -> Void
    ) {
        target.forEachDomain { domain in
            guard let group = places[Self.hash(domain)] else { return }
            let cookies = groups[group].cookies
            for place in cookies.indices {
                cookies[place].withView { cookie in
                    if selection.offer(cookie) { taken(group, place, cookie) }
                }
            }
        }
    }

    /// All cookies whose time is not over, oldest first; without a time those whose time is over, too.
    package func cookies(at now: WallTime?) -> [Cookie] {
        var all: [(cookie: Cookie, order: UInt64)] = []
        for group in groups {
            for record in group.cookies {
                record.withView { cookie in
                    if let now, cookie.isExpired(at: now) { return }
                    all.append((Cookie(cookie), cookie.order))
                }
            }
        }
        all.sort { ($0.cookie.creation.milliseconds, $0.order) < ($1.cookie.creation.milliseconds, $1.order) }
        return all.map(\.cookie)
    }

    @inline(__always)
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }

    private static func hash(_ domain: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: domain)
        // No domain has a zero byte.
        hasher.combine(UInt8(0))
        hasher.combine(bytes: name)
        return hasher.finalize()
    }
}
