// TrawlSession holds the rules of what a user agent remembers, and of the way it takes: cookies (RFC 6265bis),
// challenges and credentials (RFC 9110 §11) with netrc files, hosts that want secure transport (RFC 6797), and which
// proxy a URL goes by. It decides and never acts: it reads no clock, opens nothing, and keeps no store but the one in
// memory that a value is.

package import TrawlHTTP

/// What the rules need to know besides the line and its origin.
package struct CookieConditions: Sendable {
    /// Which cookies are taken at all.
    package var policy: CookieAcceptPolicy
    /// The host of the document a request belongs to; nil when the request is for that document itself.
    package var mainDocumentHost: String?
    /// Which domains nobody may set cookies for.
    package var suffixes: PublicSuffixTest
    /// The session that accepts it; 0 for none.
    package var session: UInt64
    /// Whether cookies without a time end with that session.
    package var endsWithSession: Bool

    /// Conditions of their parts.
    package init(
        policy: CookieAcceptPolicy = .always, mainDocumentHost: String? = nil,
        suffixes: PublicSuffixTest = .topLevel, session: UInt64 = 0, endsWithSession: Bool = false
    ) {
        self.policy = policy
        self.mainDocumentHost = mainDocumentHost
        self.suffixes = suffixes
        self.session = session
        self.endsWithSession = endsWithSession
    }
}

/// A cookie that may be stored as far as one can say without looking at the store.
///
/// Then, in one transaction: when `mustSpareSecure`, ask `CookieRules.hides` of the stored cookies in the domains above
/// and below its own; find the one of the same identity; call `settle`, and carry out what it says.
package struct ReceivedCookie: Sendable, Hashable {
    /// What will be stored.
    package private(set) var record: CookieRecord
    /// Whether it is over already: what it does then is to remove the one it would replace.
    package let isExpired: Bool
    /// Whether it came over a connection that is not secure, and is not secure itself.
    package let mustSpareSecure: Bool

    /// What storing it means for the stored cookie of the same identity (`CookieRules.isSame`).
    ///
    /// - Parameter order: Above that of all cookies stored before.
    package mutating func settle(replacing old: CookieView?, order: UInt64, at now: WallTime) -> CookieChange {
        if isExpired { return old == nil ? .nothing : .remove }
        // One whose time is over is there no more, and leaves its age to nobody.
        if let old, !old.isExpired(at: now) {
            record.takePlace(of: old)
        } else {
            record.takeOrder(order)
        }
        return old == nil ? .insert : .replace
    }

    /// Whether storing it would change nothing of a stored cookie that counts; see `CookieRules.changesNothing`.
    package func changesNothing(of old: CookieView, at now: WallTime) -> Bool {
        !isExpired && record.withView { CookieRules.changesNothing($0, replacing: old, at: now) }
    }

    /// A cookie of the program's own.
    package init(own record: CookieRecord, at now: WallTime) {
        self.init(record: record, isExpired: record.withView { $0.isExpired(at: now) }, mustSpareSecure: false)
    }

    init(record: CookieRecord, isExpired: Bool, mustSpareSecure: Bool) {
        self.record = record
        self.isExpired = isExpired
        self.mustSpareSecure = mustSpareSecure
    }
}

/// What a cookie does to a store.
package enum CookieChange: Sendable, Hashable {
    /// It is new.
    case insert
    /// It takes the place of one of the same identity.
    case replace
    /// It takes the one of the same identity away.
    case remove
    /// It is over, and there is none to take away; or it is there already.
    case nothing
}

/// Which cookies are taken, sent and thrown away, as functions of cookies and time.
package enum CookieRules {
    // MARK: Receiving

    /// The cookie a `Set-Cookie` line from a target makes.
    ///
    /// - Source: RFC 6265bis §5.7, all steps that do not need the store.
    package static func receive(
        _ line: UnsafeRawBufferPointer, from target: CookieTarget, under conditions: CookieConditions, at now: WallTime
    ) throws(CookieRefusal) -> ReceivedCookie {
        guard accepts(target, under: conditions) else { throw .policy }
        let cookie = try SetCookie(line, now: now)
        var facts = CookieRecord.Facts(creation: now, lastAccess: now, session: conditions.session)
        facts.expiry = cookie.expiry
        facts.sameSite = cookie.sameSite
        let domain = try domain(of: cookie, from: target, &facts, conditions.suffixes)
        let path = cookie.path ?? target.defaultPath
        if cookie.isSecure {
            guard target.isSecure else { throw .insecureOrigin }
            facts.flags.insert(.secure)
        }
        // §5.7, the step after those of same-site-flag: None wants Secure.
        if cookie.sameSite == .none, !cookie.isSecure { throw .insecureSameSiteNone }
        if cookie.isHTTPOnly { facts.flags.insert(.httpOnly) }
        if conditions.endsWithSession { facts.flags.insert(.endsWithSession) }
        // Of an address the flag is set all the same, since nothing lies below it; the prefix wants a line without Domain.
        let namesAddress = target.isAddress && cookie.domain != nil
        try checkPrefix(
            name: cookie.name, value: cookie.value,
            flags: namesAddress ? facts.flags.subtracting(.hostOnly) : facts.flags,
            isRoot: cookie.hasPath && path.count == 1)
        let record = try CookieRecord(
            name: cookie.name, value: cookie.value, domain: domain, path: path, facts: facts)
        return ReceivedCookie(
            record: record, isExpired: cookie.expiry.map { $0 <= now } ?? false,
            mustSpareSecure: !cookie.isSecure && !target.isSecure)
    }

    /// The domain a cookie is for.
    private static func domain(
        of cookie: SetCookie, from target: CookieTarget, _ facts: inout CookieRecord.Facts, _ suffixes: PublicSuffixTest
    ) throws(CookieRefusal) -> UnsafeRawBufferPointer {
        facts.flags.insert(.hostOnly)
        guard let attribute = cookie.domain else { return target.host }
        // The host is in lower case and ends in the domain, so the domain is taken from it.
        guard attribute.count <= target.host.count else { throw .foreignDomain }
        let domain = target.host.from(target.host.count - attribute.count, upTo: target.host.count)
        guard FieldSyntax.equalIgnoringCase(domain, attribute), CookieTarget.domainMatches(target.host, domain)
        else { throw .foreignDomain }
        // An address has nothing below it.
        if target.isAddress { return target.host }
        if suffixes.holds(domain) {
            // A host that is a public suffix may have cookies of its own.
            guard domain.count == target.host.count else { throw .publicSuffix }
            return target.host
        }
        facts.flags.remove(.hostOnly)
        return domain
    }

    /// Whether a name keeps what its prefix promises, in whatever case it is written; a value without a name may not
    /// look like one (RFC 6265bis §5.7).
    static func checkPrefix(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, flags: CookieView.Flags, isRoot: Bool
    ) throws(CookieRefusal) {
        // All prefixes start so; most names do not.
        let text = name.isEmpty ? value : name
        guard text.first == UInt8(ascii: "_") else { return }
        if text.startsIgnoringCase("__secure-") {
            guard !name.isEmpty, flags.contains(.secure) else { throw .securePrefix }
        } else if text.startsIgnoringCase("__host-") {
            guard !name.isEmpty, flags.isSuperset(of: [.secure, .hostOnly]), isRoot else { throw .hostPrefix }
        }
    }

    // MARK: The stored ones

    /// Whether two cookies cannot be in one store: same name, domain, host-only flag and path.
    package static func isSame(_ left: CookieView, _ right: CookieView) -> Bool {
        left.flags.contains(.hostOnly) == right.flags.contains(.hostOnly) && left.name.equals(right.name)
            && left.domain.equals(right.domain) && left.path.equals(right.path)
    }

    /// What is left of cookies that are stored one after the other: those whose time is not over, without what a later
    /// one removes whose time is.
    package static func lasting(of cookies: [CookieRecord], at now: WallTime) -> [CookieRecord] {
        var removed: Set<[UInt8]> = []
        var left: [CookieRecord] = []
        for cookie in cookies.reversed() {
            let (isOver, key) = cookie.withView { ($0.isExpired(at: now), identity(of: $0)) }
            if isOver {
                removed.insert(key)
            } else if !removed.contains(key) {
                left.append(cookie)
            }
        }
        return left.reversed()
    }

    /// Bytes that are the same for cookies for which `isSame` holds, and for no others.
    private static func identity(of cookie: CookieView) -> [UInt8] {
        // None of the texts has a zero byte.
        var bytes: [UInt8] = [cookie.flags.contains(.hostOnly) ? 1 : 0]
        for text in [cookie.domain, cookie.path, cookie.name] {
            bytes.append(contentsOf: text)
            bytes.append(0)
        }
        return bytes
    }

    /// Whether a new cookie, which is not secure and came over a connection that is not, would hide a stored one that
    /// is.
    ///
    /// - Source: RFC 6265bis §5.7, "leave secure cookies alone".
    package static func hides(_ new: CookieView, _ stored: CookieView, at now: WallTime) -> Bool {
        stored.flags.contains(.secure) && !stored.isExpired(at: now) && new.name.equals(stored.name)
            && CookieTarget.pathMatches(new.path, stored.path)
            && (CookieTarget.domainMatches(stored.domain, new.domain)
                || CookieTarget.domainMatches(new.domain, stored.domain))
    }

    /// Whether a stored cookie goes along with a request.
    ///
    /// - Source: RFC 6265bis §5.8.3 step 1.
    @inline(__always)
    package static func isSent(_ cookie: CookieView, to target: CookieTarget, at now: WallTime) -> Bool {
        let flags = cookie.flags
        if flags.contains(.secure), !target.isSecure { return false }
        guard CookieTarget.pathMatches(target.path, cookie.path), !cookie.isExpired(at: now) else { return false }
        return flags.contains(.hostOnly)
            ? cookie.domain.equals(target.host) : CookieTarget.domainMatches(target.host, cookie.domain)
    }

    /// How far behind a cookie's last access may be before sending or setting it once more is worth a write: an hour.
    ///
    /// The order of eviction is the only thing that depends on it.
    package static let accessGrain: Int64 = 3_600_000

    /// Whether storing a cookie would change nothing that counts: one of the same identity is there and has the same
    /// value, end and attributes. Ends are told apart by the second, as `Max-Age` and `Expires` tell them: many servers
    /// set the same cookie with each response, and let its time begin anew.
    package static func changesNothing(_ new: CookieView, replacing old: CookieView, at now: WallTime) -> Bool {
        isSame(new, old) && new.flags == old.flags && new.sameSite == old.sameSite && endsWithin(1000, new, old)
            && new.session == old.session && new.value.equals(old.value) && !old.isExpired(at: now)
            && !isWorthTouching(old, at: now)
    }

    /// Whether two cookies end less than some milliseconds apart, or both with the session.
    private static func endsWithin(_ distance: UInt64, _ left: CookieView, _ right: CookieView) -> Bool {
        guard let end = left.expiry, let other = right.expiry else { return left.expiry == right.expiry }
        return end.milliseconds(since: other).magnitude < distance
    }

    /// Whether the last access of a cookie that is sent now should be written.
    package static func isWorthTouching(_ cookie: CookieView, at now: WallTime) -> Bool {
        now.milliseconds(since: cookie.lastAccess) >= accessGrain
    }
}
