import CPlatform
import Glibc
import TrawlHTTP

/// The system's resolver, with a limit of time.
package enum NameLookup {
    private static let abandoned = Guarded(AbandonedLookups<OpaquePointer>())

    /// The addresses of a name, parted by semicolons; nil when there is none, or none came in time, or too many lookups
    /// are under way for which none came.
    ///
    /// Blocks the calling thread.
    package static func addresses(of name: String, ipv4Only: Bool, within limit: Duration) -> String? {
        guard abandoned.withLock({ $0.haveRoom { cplatform_lookup_ended($0) != 0 } }), !name.utf8.contains(0) else {
            return nil
        }
        let milliseconds = Int32(clamping: limit.clampedNanoseconds / 1_000_000)
        var text = [CChar](repeating: 0, count: 2048)
        var left: OpaquePointer?
        let length = cplatform_resolve(name, ipv4Only ? 1 : 0, milliseconds, &text, text.count, &left)
        if let left { abandoned.withLock { $0.add(left) } }
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
