import CPlatform
import Glibc

/// The system's resolver, with a limit of time.
package enum NameLookup {
    /// Questions that were given up and may still be under way: each keeps a thread of the resolver busy.
    private static let abandoned = Guarded(0)
    private static let mostAbandoned = 32

    /// The addresses of a name, parted by semicolons; nil when there is none, or none came in time.
    ///
    /// Blocks the calling thread.
    package static func addresses(of name: String, ipv4Only: Bool, within limit: Duration) -> String? {
        guard abandoned.withLock({ $0 < mostAbandoned }), !name.utf8.contains(0) else { return nil }
        let milliseconds = Int32(clamping: limit.components.seconds * 1000)
        var text = [CChar](repeating: 0, count: 2048)
        let length = cplatform_resolve(name, ipv4Only ? 1 : 0, milliseconds, &text, text.count)
        if length == -ETIMEDOUT { abandoned.withLock { $0 += 1 } }
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
