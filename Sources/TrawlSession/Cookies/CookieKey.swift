/// What tells a cookie's name, path and host-only flag apart from others of its domain.
package struct CookieDigest: Sendable, Hashable {
    /// Half of the digest.
    package var high: UInt64
    /// The other half.
    package var low: UInt64

    /// A digest of its halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// The keys of a sorted table of cookies.
///
/// A key is the jar's number (32 bits, big endian), the domain with its labels in reverse order, a zero byte, and a digest
/// of the rest of the identity (two halves, big endian): at most 276 bytes, of the 511 that LMDB takes. So
///
/// - the cookies of one domain are neighbours, and all that can go along with a request for `a.b.example.org` lie behind
///   the prefixes `org`, `org.example`, `org.example.b` and `org.example.b.a`, a zero after each: one seek for each, all on
///   the same way through the tree;
/// - the domains below one lie behind it with a dot, for finding secure cookies that a new one would hide and for removing
///   a site;
/// - a jar is a range.
///
/// The digest is made outside. Two identities with the same one would share a place, the later taking it from the earlier:
/// whoever reads a place asks `CookieRules.isSame`.
package enum CookieKey {
    /// The longest key.
    package static let limit = 4 + CookieView.domainLimit + 1 + 16

    /// The key of a cookie.
    package static func key(
        jar: UInt32, of cookie: CookieView, digest: (UnsafeRawBufferPointer) -> CookieDigest
    ) -> [UInt8] {
        let (name, path) = (cookie.name, cookie.path)
        // The name is never longer than 4,096 bytes; its length keeps it apart from the path.
        var identity: [UInt8] = [
            cookie.flags.contains(.hostOnly) ? 1 : 0, UInt8(truncatingIfNeeded: name.count),
            UInt8(truncatingIfNeeded: name.count >> 8),
        ]
        identity.reserveCapacity(3 + name.count + path.count)
        identity.append(contentsOf: name)
        identity.append(contentsOf: path)
        let digest = identity.withUnsafeBytes(digest)
        var key = domain(cookie.domain, jar: jar)
        for half in [digest.high, digest.low] {
            for shift in stride(from: 56, through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: half >> shift)) }
        }
        return key
    }

    /// What the keys of a domain's cookies start with.
    package static func domain(_ domain: UnsafeRawBufferPointer, jar: UInt32) -> [UInt8] {
        var key = reversed(domain, jar)
        key.append(0)
        return key
    }

    /// What the keys of the cookies of all domains below one start with. There are none below an address.
    package static func below(_ domain: UnsafeRawBufferPointer, jar: UInt32) -> [UInt8] {
        var key = reversed(domain, jar)
        key.append(UInt8(ascii: "."))
        return key
    }

    /// What the keys of a jar start with.
    package static func jar(_ jar: UInt32) -> [UInt8] {
        [UInt8(jar >> 24), UInt8(jar >> 16 & 0xFF), UInt8(jar >> 8 & 0xFF), UInt8(jar & 0xFF)]
    }

    /// Calls `body` with each prefix that has cookies which can go along with a request, in the order of the table.
    package static func forEachPrefix(
        of target: CookieTarget, jar: UInt32, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        // No cookie has a longer domain.
        guard !target.host.isEmpty, target.host.count <= CookieView.domainLimit else { return }
        var key = domain(target.host, jar: jar)
        let dot = UInt8(ascii: ".")
        key.withUnsafeMutableBytes { key in
            if !target.isAddress {
                for index in 4..<key.count where key[index] == dot {
                    key[index] = 0
                    body(UnsafeRawBufferPointer(rebasing: key[...index]))
                    key[index] = dot
                }
            }
            body(UnsafeRawBufferPointer(key))
        }
    }

    private static func reversed(_ domain: UnsafeRawBufferPointer, _ jar: UInt32) -> [UInt8] {
        var key = self.jar(jar)
        key.reserveCapacity(limit)
        if CookieTarget.isAddress(domain) {
            key.append(contentsOf: domain)
            return key
        }
        var end = domain.count
        while true {
            var start = end
            while start > 0, domain[start - 1] != UInt8(ascii: ".") { start -= 1 }
            key.append(contentsOf: domain.from(start, upTo: end))
            if start == 0 { return key }
            key.append(UInt8(ascii: "."))
            end = start - 1
        }
    }
}
