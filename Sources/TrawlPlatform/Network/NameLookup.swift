import CTrawlPlatform
import Glibc
import TrawlHTTP

/// The system's resolver, with a limit of time or without.
///
/// getaddrinfo(3) has none, so a lookup that must have one gets a thread of its own, `trawl-name`, which is left to
/// itself when it takes too long. getaddrinfo_a(3) would do that, but it cannot be waited for: when a lookup ends just
/// as the time is over, gai_suspend (glibc 2.36) leaves it an entry on its caller's stack, which is written to after
/// that.
package enum NameLookup {
    private static let lookups = BoundedCalls()

    /// The addresses of a name, parted by semicolons; nil when there is none, or none came in time, or too many lookups
    /// are under way for which none came.
    ///
    /// Blocks the calling thread.
    package static func addresses(of name: String, ipv4Only: Bool, within limit: Duration) -> String? {
        lookups.run(within: limit) { addresses(of: name, ipv4Only: ipv4Only) }
    }

    /// The addresses of a name, parted by semicolons; nil when there is none.
    ///
    /// Blocks the calling thread for as long as the resolver wants, which is its configuration's to say
    /// (resolv.conf(5), `timeout` and `attempts`).
    package static func addresses(of name: String, ipv4Only: Bool) -> String? {
        guard !name.utf8.contains(0) else { return nil }
        var text = [CChar](repeating: 0, count: 2048)
        let length = cplatform_resolve(name, ipv4Only ? 1 : 0, &text, text.count)
        return length > 0 ? Self.text(text, length) : nil
    }

    /// The address this machine has towards the rest of the world; nil when there is no way there.
    package static func ownAddress(ipv6: Bool) -> String? {
        var text = [CChar](repeating: 0, count: 64)
        let length = cplatform_own_address(ipv6 ? 1 : 0, &text, text.count)
        return length > 0 ? Self.text(text, length) : nil
    }

    private static func text(_ bytes: [CChar], _ length: Int32) -> String {
        String(decoding: bytes.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
