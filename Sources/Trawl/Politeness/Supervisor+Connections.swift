import TrawlFrontier
import TrawlHTTP
import TrawlProtocol
import TrawlSupervision

/// Connections to an origin over all workers: never more than requests in flight may be.
extension Supervisor {
    /// What the connection of a hop counts for.
    ///
    /// A worker that is alone counts for all. Of several each closes an idle connection before it opens another, so
    /// that it never has more than its share (``LeaseTable/place(_:isSuspect:limit:)``).
    func counted(_ origin: OriginKey, limit: UInt32) -> CountedOrigin? {
        guard limit != .max else { return nil }
        return CountedOrigin(number: origin, most: leases.workers == 1 ? UInt16(clamping: limit) : 1)
    }

    /// Gives hops that wait out of their queues to workers: they were first.
    mutating func dispatchHeld() {
        let waiting = heldHops
        heldHops = []
        for hop in waiting {
            guard let fetch = fetches[FetchKey(rawValue: hop.hop)], fetch.engine.life.isWaiting else { continue }
            guard fetch.engine.isSuspect || hasRoom, place(hop, fetch) else {
                heldHops.append(hop)
                continue
            }
        }
    }

    /// A worker says how many connections to an origin it has open.
    ///
    /// - Returns: False when it broke the rules and nothing more is to be read from it.
    mutating func told(of origin: UInt32, open: UInt16, from link: WorkerLink) -> Bool {
        guard leases.told(origin, by: link.slot, open: Int(open)) else {
            // Each lease may have two closed before its end: that which it was to use, and that which it has used.
            return passesOver(from: link, beside: 2 * leases.heldCount(of: link.slot))
        }
        if toldSteps.contains(.connections) {
            let name = hosts.origin(of: origin)?.hostText ?? ""
            tell(.connections, "worker \(link.slot) has \(open) to \(name) left")
        }
        return true
    }

    /// Asks a worker to close idle connections. One that is not there any more has none.
    mutating func askToClose(_ count: Int, _ origin: OriginKey, of worker: Int) {
        guard let link = pool.links[worker] else { return }
        _ = link.send(.release(origin: origin, count: UInt16(clamping: count)))
        pool.markDirty(worker)
    }

    /// The limit of an origin may be lower than it was.
    mutating func closeSurplus(of origin: OriginKey) {
        for (worker, count) in leases.surplus(of: origin, limit: hosts.queues.limit(of: origin)) {
            askToClose(count, origin, of: worker)
        }
    }

    /// An origin keeps its number as long as there are connections to it: workers know them by that.
    mutating func keepCountedOrigins() {
        while let origin = leases.takeFoundOrigin() { hosts.retain(origin) }
        while let origin = leases.takeForgottenOrigin() { hosts.release(origin) }
    }
}
