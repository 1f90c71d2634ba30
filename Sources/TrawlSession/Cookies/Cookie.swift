package import TrawlHTTP

/// A cookie as a plain value: what programs list, set, import and export.
///
/// Its parts may be anything; `record()` says whether the rules allow it.
package struct Cookie: Sendable, Hashable {
    /// Bytes, since servers send more than UTF-8. May be empty.
    package var name: [UInt8]
    /// Bytes, as sent.
    package var value: [UInt8]
    /// The host, or the domain whose hosts it is for.
    package var domain: String
    /// Whether it is for the host alone.
    package var isHostOnly: Bool
    /// The path it is for.
    package var path: String
    /// `Secure`.
    package var isSecure: Bool
    /// `HttpOnly`.
    package var isHTTPOnly: Bool
    /// `SameSite`.
    package var sameSite: SameSite
    /// When it ends; nil for a session cookie.
    package var expiry: WallTime?
    /// When the first cookie of that identity was made.
    package var creation: WallTime
    /// When it was last sent or set.
    package var lastAccess: WallTime
    /// The session that accepted it; 0 for none.
    package var session: UInt64
    /// Whether it ends with that session, if it has no time of its own.
    package var endsWithSession: Bool

    /// A cookie of its parts.
    package init(
        name: [UInt8], value: [UInt8], domain: String, isHostOnly: Bool = true, path: String = "/",
        isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite = .unset, expiry: WallTime? = nil,
        creation: WallTime, lastAccess: WallTime? = nil, session: UInt64 = 0, endsWithSession: Bool = false
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.expiry = expiry
        self.creation = creation
        self.lastAccess = lastAccess ?? creation
        self.session = session
        self.endsWithSession = endsWithSession
    }

    /// What a view shows. Bytes of domain and path that are not UTF-8 become one character each.
    package init(_ view: CookieView) {
        let flags = view.flags
        self.init(
            name: Array(view.name), value: Array(view.value), domain: FieldLines.text(view.domain),
            isHostOnly: flags.contains(.hostOnly), path: FieldLines.text(view.path),
            isSecure: flags.contains(.secure), isHTTPOnly: flags.contains(.httpOnly), sameSite: view.sameSite,
            expiry: view.expiry, creation: view.creation, lastAccess: view.lastAccess, session: view.session,
            endsWithSession: flags.contains(.endsWithSession))
    }

    /// The domain as records have it: in lower case, an IPv6 address in brackets, as hosts of URLs have it. And whether
    /// the cookie is for that host alone: a leading dot says that it is not, an address always is.
    package var keptDomain: (text: [UInt8], isHostOnly: Bool) {
        var text = domain.utf8.map(FieldSyntax.lowercased)
        var isHostOnly = isHostOnly
        if text.first == UInt8(ascii: ".") {
            text.removeFirst()
            isHostOnly = false
        }
        // As curl and people write it.
        if text.contains(UInt8(ascii: ":")), text.first != UInt8(ascii: "["),
            IPAddress(String(decoding: text, as: UTF8.self)) != nil
        {
            text = [UInt8(ascii: "[")] + text + [UInt8(ascii: "]")]
        }
        return (text, isHostOnly || text.withUnsafeBytes { CookieTarget.isAddress($0) })
    }

    /// The cookie as it is kept, with the domain that `keptDomain` says.
    ///
    /// Besides what every cookie must hold to, its name must keep what its prefix promises, and its domain must not be
    /// a public suffix unless it is for that host alone; that of an address always is. Nobody's connection is looked
    /// at: the cookie is the program's own.
    package func record(_ suffixes: PublicSuffixTest) throws(CookieRefusal) -> CookieRecord {
        var facts = CookieRecord.Facts(creation: creation, lastAccess: lastAccess, expiry: expiry, session: session)
        facts.sameSite = sameSite
        let (domain, isHostOnly) = keptDomain
        if isHostOnly { facts.flags.insert(.hostOnly) }
        if isSecure { facts.flags.insert(.secure) }
        if isHTTPOnly { facts.flags.insert(.httpOnly) }
        if endsWithSession { facts.flags.insert(.endsWithSession) }
        let outcome: Result<CookieRecord, CookieRefusal> = name.withUnsafeBytes { name in
            value.withUnsafeBytes { value in
                domain.withUnsafeBytes { domain in
                    Array(path.utf8).withUnsafeBytes { path in
                        do throws(CookieRefusal) {
                            if !facts.flags.contains(.hostOnly), suffixes.holds(domain) {
                                throw .publicSuffix
                            }
                            try CookieRules.checkPrefix(
                                name: name, value: value, flags: facts.flags, isRoot: self.path == "/")
                            return .success(
                                try CookieRecord(name: name, value: value, domain: domain, path: path, facts: facts))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
            }
        }
        return try outcome.get()
    }

    /// The same; nil when the rules do not allow it and its time is over, so that there is none for it to remove.
    package func record(_ suffixes: PublicSuffixTest, at now: WallTime) throws(CookieRefusal) -> CookieRecord? {
        do throws(CookieRefusal) {
            return try record(suffixes)
        } catch {
            if let expiry, expiry <= now { return nil }
            throw error
        }
    }

    /// The name as text: UTF-8, else a character for each byte.
    package var nameText: String { name.withUnsafeBytes(FieldLines.text) }
    /// The value as text: UTF-8, else a character for each byte.
    package var valueText: String { value.withUnsafeBytes(FieldLines.text) }
}
