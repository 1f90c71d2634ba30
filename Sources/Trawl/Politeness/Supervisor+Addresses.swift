import TrawlFrontier
import TrawlHTTP
import TrawlProtocol
import TrawlSupervision

/// Hosts by their addresses (``HostPoliteness/Key/address``): those that are found at one address share a queue.
///
/// Workers find out at which address a host is. Until the end of the first hop says so, the host has a queue of its
/// own, from which one hop starts at a time; those that wait there then go over to the queue of the address.
extension Supervisor {
    /// What the queue of a hop is named by.
    ///
    /// - Parameter isProxied: Whether a proxy looks for the address.
    func hostKey(of origin: Origin, isProxied: Bool) -> Origin {
        guard configuration.politeness.key == .address, !isProxied else { return origin }
        guard let address = addresses.address(of: origin.host) else {
            return Origin(scheme: Self.nameScheme, host: origin.host, port: 0)
        }
        return Origin(scheme: Self.addressScheme, host: address, port: 0)
    }

    // No URL that is fetched has these.
    private static var nameScheme: String { "name" }
    private static var addressScheme: String { "address" }

    /// The number of the host that a fetch's next hop goes to, in use once more.
    mutating func retainHost(of fetch: RunningFetch) -> OriginKey {
        guard configuration.politeness.key == .address else { return origins.retain(fetch.engine.target.origin) }
        let key = hostKey(of: fetch.engine.target.origin, isProxied: fetch.engine.way?.proxy != nil)
        let number = origins.retain(key)
        // How many names share the address is not known yet.
        if key.scheme == Self.nameScheme { queues.setLimit(1, of: number) }
        return number
    }

    /// Whether what the connection of a hop counts for is known: one that was opened before the address was, and
    /// stayed, would count for nothing.
    func mayCountLater(_ fetch: RunningFetch) -> Bool {
        configuration.politeness.key == .origin || configuration.connectionsPerHost == 0
            || origins[fetch.engine.origin]?.scheme != Self.nameScheme
    }

    /// Takes down at which address a hop found its host.
    mutating func noteAddress(_ end: LeaseEnd, of fetch: RunningFetch) {
        guard configuration.politeness.key == .address, fetch.engine.way?.proxy == nil,
            !end.metrics.remoteAddress.isEmpty
        else { return }
        let origin = fetch.engine.target.origin
        let before = hostKey(of: origin, isProxied: false)
        addresses.note(origin.host, at: end.metrics.remoteAddress, now: now)
        let delay = configuration.politeness.delay
        guard delay != .none, hostKey(of: origin, isProxied: false) != before else { return }
        // This hop counts for the address too.
        snooze(fetch, until: now.advanced(by: delay.least + delay.random))
    }

    /// Lets no hop start to the host of a fetch before a time.
    mutating func snooze(_ fetch: RunningFetch, until time: MonotonicInstant) {
        queues.snooze(fetch.engine.origin, until: time)
        let key = hostKey(of: fetch.engine.target.origin, isProxied: fetch.engine.way?.proxy != nil)
        guard origins[fetch.engine.origin] != key else { return }
        let number = origins.retain(key)
        queues.snooze(number, until: time)
        origins.release(number, of: &queues)
    }

    /// Puts a hop whose turn has come into the queue of its host's address, which has become known while it waited.
    ///
    /// - Returns: Whether it did; the hop waits there.
    mutating func goesOver(_ ready: ReadyHop, _ fetch: RunningFetch) -> Bool {
        guard configuration.politeness.key == .address,
            origins[ready.host]
                != hostKey(of: fetch.engine.target.origin, isProxied: fetch.engine.way?.proxy != nil)
        else { return false }
        queues.remove(ready.hop, at: queues.putBack(ready))
        origins.release(ready.host, of: &queues)
        fetch.engine.origin = retainHost(of: fetch)
        fetch.engine.place = queues.enqueue(ready.hop, host: fetch.engine.origin, priority: ready.priority)
        return true
    }
}

extension Origin {
    /// How a host is named in a status: by its origin, its address, or its name while the address is not known.
    var hostText: String { port == 0 ? host : text }
}
