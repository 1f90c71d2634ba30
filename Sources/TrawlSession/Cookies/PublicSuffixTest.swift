/// Whether a domain is one under which anybody can register names, such as `com` or `co.uk`.
///
/// The list is not part of the rules; whoever has one gives it as a value.
package struct PublicSuffixTest: Sendable {
    /// The test. The domain is in lower case and ASCII form, and lives for the call.
    package let isPublicSuffix: @Sendable (_ domain: UnsafeRawBufferPointer) -> Bool

    /// A test of a list.
    package init(_ isPublicSuffix: @escaping @Sendable (_ domain: UnsafeRawBufferPointer) -> Bool) {
        self.isPublicSuffix = isPublicSuffix
    }

    /// Without a list: names without a dot are public suffixes, as the list itself says of names it does not hold.
    package static let topLevel = PublicSuffixTest { !$0.contains(UInt8(ascii: ".")) }

    /// The answer for a domain as it stands in a URL, perhaps with the dot of the root.
    func holds(_ domain: UnsafeRawBufferPointer) -> Bool {
        let end = domain.last == UInt8(ascii: ".") ? domain.count - 1 : domain.count
        return end > 0 && isPublicSuffix(domain.from(0, upTo: end))
    }

    /// The part of a host that one owner has: the longest public suffix and one label more.
    ///
    /// A host that is a public suffix or an address is its own.
    func registrableDomain(of host: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if CookieTarget.isAddress(host) || holds(host) { return host }
        var start = 0
        for index in 0..<host.count where host[index] == UInt8(ascii: ".") {
            if holds(host.from(index + 1, upTo: host.count)) { return host.from(start, upTo: host.count) }
            start = index + 1
        }
        return host
    }
}
