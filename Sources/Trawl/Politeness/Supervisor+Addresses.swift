import TrawlFrontier
import TrawlHTTP
import TrawlProtocol
import TrawlSupervision

/// Hosts by their addresses (``HostPoliteness/Key/address``): those that are found at one address share a queue.
///
/// At which one a name is, is known before its first hop is queued: it is an address itself, the request says where it
/// is, or it is looked up while the hop waits. Of a hop through a proxy that is the proxy's to find out.
extension Supervisor {
    /// Makes sure that it is known which host a hop goes to, where hosts are addresses.
    ///
    /// - Returns: False when the hop waits until its name is looked up, or fails since it is known to have no address.
    mutating func hasAddress(_ fetch: RunningFetch, front: Bool) -> Bool {
        guard countsByAddress(fetch) else { return true }
        let host = fetch.connectHost
        if let literal = HostAddresses.literal(host) {
            // So that a name that is found there belongs to it.
            addresses.note(host, at: [literal], now: now)
            return true
        }
        if addresses.isKnown(host, at: now) { return true }
        if HostAddresses.isLoopback(host) {
            addresses.note(host, at: HostAddresses.loopback, now: now)
            return true
        }
        if isUnknown(fetch) {
            nameless.fail(fetch.engine.key)
        } else if nameless.wait(fetch.engine.key, front: front, for: host) {
            lookups.ask(host)
        }
        return false
    }

    /// A name was looked up.
    ///
    /// - Parameter found: Its addresses; none when it has none, or none was found in time; nil when there was no thread to
    ///   look it up.
    mutating func located(_ name: String, _ found: [String]?) {
        guard let found else {
            for (key, _) in nameless.take(name) {
                guard let fetch = fetches[key], fetch.awaitsItsQueue, fetch.connectHost == name else { continue }
                failUnasked(fetch)
            }
            return
        }
        // Hosts with rules of their own keep their name.
        if !found.isEmpty { for key in hosts.ruled { addresses.note(key.host, at: [key.host], now: now) } }
        addresses.note(name, at: found, now: now)
        for (key, front) in nameless.take(name) {
            // It may have been cancelled meanwhile.
            guard let fetch = fetches[key], fetch.awaitsItsQueue, fetch.connectHost == name else { continue }
            if found.isEmpty { failByName(fetch, afterLookup: true) } else { enqueue(fetch, front: front) }
        }
    }

    /// Fails the hops whose names are known to have no address.
    mutating func failNameless() {
        while let key = nameless.nextFailing() {
            guard let fetch = fetches[key], fetch.awaitsItsQueue else { continue }
            failByName(fetch, afterLookup: false)
        }
    }

    /// What the queue of a host is named by.
    ///
    /// - Parameter host: As in a URL.
    private func addressKey(of host: String) -> Origin? {
        // No URL that is fetched has this scheme.
        addresses.address(of: host).map { Origin(scheme: "address", host: $0, port: 0) }
    }

    /// What the queue of an origin is named by: of a host that nobody has asked for yet it is the origin itself.
    func hostKey(of origin: Origin) -> Origin {
        guard configuration.politeness.key == .address else { return origin }
        return addressKey(of: origin.host) ?? origin
    }

    /// The same of an origin that a hop goes to.
    ///
    /// - Parameters:
    ///   - terms: Of the hop: they may say that connections go elsewhere.
    ///   - isDirect: Whether no proxy is on the way.
    func hostKey(of origin: Origin, _ terms: FetchTerms, isDirect: Bool) -> Origin {
        guard configuration.politeness.key == .address, isDirect else { return origin }
        return addressKey(of: terms.connectHost(of: origin)) ?? origin
    }

    /// The number of the host that a fetch's next hop goes to, in use once more.
    mutating func retainHost(of fetch: RunningFetch) -> OriginKey {
        let origin = fetch.engine.target.origin
        return hosts.retain(hostKey(of: origin, fetch.engine.terms, isDirect: fetch.goesDirectly))
    }

    /// Takes down at which address a hop found its host.
    mutating func noteAddress(_ end: LeaseEnd, of fetch: RunningFetch) {
        guard countsByAddress(fetch), !end.metrics.remoteAddress.isEmpty else { return }
        addresses.note(fetch.connectHost, at: [end.metrics.remoteAddress], now: now)
    }

    private func countsByAddress(_ fetch: RunningFetch) -> Bool {
        configuration.politeness.key == .address && fetch.goesDirectly
    }
}

extension RunningFetch {
    /// The host that the next hop connects to, without a proxy.
    fileprivate var connectHost: String { engine.terms.connectHost(of: engine.target.origin) }

    /// Whether the hop waits for something before its host's queue.
    fileprivate var awaitsItsQueue: Bool {
        engine.life.isWaiting && engine.place == nil && !engine.isInHostProcess && !engine.isStoredHop
    }
}

extension FetchTerms {
    /// The host that hops to an origin connect to, without a proxy: that of the URL, unless the request says otherwise.
    fileprivate func connectHost(of origin: Origin) -> String {
        guard let place = routes?.place(of: origin) else { return origin.host }
        return String(place[..<(place.lastIndex(of: ":") ?? place.endIndex)])
    }
}

extension Origin {
    /// How a host is named in a status: by its origin or its address.
    var hostText: String { port == 0 ? host : text }
}
