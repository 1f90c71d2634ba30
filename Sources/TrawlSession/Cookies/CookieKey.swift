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
/// A key is the jar's number (32 bits, big endian), the domain with its labels in reverse order, a zero byte, and a
/// digest of the rest of the identity (two halves, big endian): at most 276 bytes, of the 511 that LMDB takes. So
///
/// - the cookies of one domain are neighbours, and all that can go along with a request for `a.b.example.org` lie
///   behind the prefixes `org`, `org.example`, `org.example.b` and `org.example.b.a`, a zero after each: one seek for
///   each, all on the same way through the tree;
/// - the domains below one lie behind it with a dot, for finding secure cookies that a new one would hide and for
///   removing a site;
/// - a jar is a range.
///
/// The digest is made outside. Two identities with the same one would share a place, the later taking it from the
/// earlier: whoever reads a place asks `CookieRules.isSame`.
package enum CookieKey {
    /// The longest key.
    package static let limit = 4 + CookieView.domainLimit + 1 + 16

    /// The key of a cookie.
    package static func key(
        jar: UInt32, of cookie: CookieView, digest: (UnsafeRawBufferPointer) -> CookieDigest
    ) -> [UInt8] {
        let (name, path, domain) = (cookie.name, cookie.path, cookie.domain)
        let length = 3 + name.count + path.count
        let digest = withUnsafeTemporaryAllocation(byteCount: length, alignment: 1) { identity in
            identity[0] = cookie.flags.contains(.hostOnly) ? 1 : 0
            // The name is never longer than 4,096 bytes; its length keeps it apart from the path.
            identity[1] = UInt8(truncatingIfNeeded: name.count)
            identity[2] = UInt8(truncatingIfNeeded: name.count >> 8)
            identity.copyBytes(from: name, at: 3)
            identity.copyBytes(from: path, at: 3 + name.count)
            return digest(UnsafeRawBufferPointer(identity))
        }
        return made(jar, domain, and: 17) { end in
            end[0] = 0
            end.storeBytes(of: digest.high.bigEndian, toByteOffset: 1, as: UInt64.self)
            end.storeBytes(of: digest.low.bigEndian, toByteOffset: 9, as: UInt64.self)
        }
    }

    /// What the keys of a domain's cookies start with.
    package static func domain(_ domain: UnsafeRawBufferPointer, jar: UInt32) -> [UInt8] {
        made(jar, domain, and: 1) { $0[0] = 0 }
    }

    /// The same of a cookie whose key is there.
    package static func domain(of key: [UInt8]) -> [UInt8] { Array(key.dropLast(16)) }

    /// What the keys of the cookies of all domains below one start with. There are none below an address.
    package static func below(_ domain: UnsafeRawBufferPointer, jar: UInt32) -> [UInt8] {
        made(jar, domain, and: 1) { $0[0] = dot }
    }

    /// What the keys of a jar start with.
    package static func jar(_ jar: UInt32) -> [UInt8] {
        [UInt8(jar >> 24), UInt8(jar >> 16 & 0xFF), UInt8(jar >> 8 & 0xFF), UInt8(jar & 0xFF)]
    }

    /// Calls `body` with each prefix that has cookies which can go along with a request, in the order of the table.
    ///
    /// - Parameter hasTopLevel: Whether the last label of a longer host is among them. Whatever is kept for that is for
    ///   that host alone, since a name of one label is a public suffix (RFC 6265bis §5.7, "the domain-attribute is a
    ///   public suffix").
    package static func forEachPrefix(
        of target: CookieTarget, jar: UInt32, hasTopLevel: Bool = true, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        // No cookie has a longer domain.
        guard !target.host.isEmpty, target.host.count <= CookieView.domainLimit else { return }
        withUnsafeTemporaryAllocation(byteCount: 4 + target.host.count + 1, alignment: 1) { key in
            fill(key, jar, target.host)
            key[key.count - 1] = 0
            if !target.isAddress {
                var isTopLevel = true
                for index in 4..<key.count where key[index] == dot {
                    defer { isTopLevel = false }
                    if isTopLevel, !hasTopLevel { continue }
                    key[index] = 0
                    body(UnsafeRawBufferPointer(rebasing: key[...index]))
                    key[index] = dot
                }
            }
            body(UnsafeRawBufferPointer(key))
        }
    }

    private static let dot = UInt8(ascii: ".")

    /// A key of jar and domain, and what `fillEnd` puts behind them.
    private static func made(
        _ jar: UInt32, _ domain: UnsafeRawBufferPointer, and endLength: Int,
        _ fillEnd: (UnsafeMutableRawBufferPointer) -> Void
    ) -> [UInt8] {
        let length = 4 + domain.count + endLength
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            let key = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: length)
            fill(key, jar, domain)
            fillEnd(UnsafeMutableRawBufferPointer(rebasing: key[(length - endLength)...]))
            initialized = length
        }
    }

    /// Writes a jar and a domain with its labels in reverse order to the beginning of a key.
    private static func fill(_ key: UnsafeMutableRawBufferPointer, _ jar: UInt32, _ domain: UnsafeRawBufferPointer) {
        key.storeBytes(of: jar.bigEndian, as: UInt32.self)
        if CookieTarget.isAddress(domain) { return key.copyBytes(from: domain, at: 4) }
        var place = 4
        var end = domain.count
        while true {
            var start = end
            while start > 0, domain[start - 1] != dot { start -= 1 }
            key.copyBytes(from: domain.from(start, upTo: end), at: place)
            place += end - start
            if start == 0 { return }
            key[place] = dot
            place += 1
            end = start - 1
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Copies bytes to a place in it, where there is room for them.
    @inline(__always)
    fileprivate func copyBytes(from bytes: UnsafeRawBufferPointer, at place: Int) {
        UnsafeMutableRawBufferPointer(rebasing: self[place...]).copyMemory(from: bytes)
    }
}
