import CTrawlPlatform
import TrawlHTTP

/// Finds out whether a connection can be made, by making one and closing it.
package enum ConnectionProbe {
    /// Whether a port of a host takes connections. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - limit: For name and connection together.
    package static func reaches(_ host: String, port: UInt16, within limit: Duration) -> Bool {
        let end = MonotonicClock.now().advanced(by: limit)
        guard let addresses = NameLookup.addresses(of: host, ipv4Only: false, within: limit) else { return false }
        for address in addresses.split(separator: ";") {
            let now = MonotonicClock.now()
            guard now < end else { return false }
            let left = Int32(clamping: now.duration(to: end).clampedNanoseconds / 1_000_000)
            if cplatform_reach(String(address), port, left) == 0 { return true }
        }
        return false
    }
}
