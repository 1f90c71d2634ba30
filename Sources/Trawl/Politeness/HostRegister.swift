import TrawlFrontier
import TrawlHTTP
import TrawlSupervision

/// The hosts of a coordinator: their numbers, what waits for them, and which have rules of their own.
///
/// A host keeps its number, and with it its queue, as long as a hop, a connection or a rule uses it.
struct HostRegister {
    /// What waits for the hosts, by their numbers.
    var queues: HostQueues
    private var origins = OriginTable()
    /// Hosts with rules of their own; each uses its number.
    private var ruledHosts: [Origin: OriginKey] = [:]
    /// Whether a random number is needed when a hop starts or ends.
    private(set) var drawsLots: Bool

    init(_ politeness: HostPoliteness, connectionsPerHost: Int) {
        queues = HostQueues(politeness.rules(connectionsPerHost: connectionsPerHost))
        drawsLots = politeness.delay.random > .zero || politeness.circuit != nil
    }

    /// The host that has a number.
    func origin(of number: OriginKey) -> Origin? { origins[number] }

    /// The number of a host, in use once more.
    mutating func retain(_ origin: Origin) -> OriginKey { origins.retain(origin) }

    /// A number that is in use is so once more.
    mutating func retain(_ number: OriginKey) { origins.retain(number) }

    /// One use of a number is over.
    mutating func release(_ number: OriginKey) { origins.release(number, of: &queues) }

    /// Hosts with rules of their own.
    var ruled: Dictionary<Origin, OriginKey>.Keys { ruledHosts.keys }

    /// Gives a host rules of its own; nil takes them back.
    ///
    /// - Returns: Its number, in use once more.
    mutating func setRules(_ rules: HostRules?, of origin: Origin) -> OriginKey {
        let number = origins.retain(origin)
        queues.setLimit(rules?.connections, of: number)
        queues.setDelay(rules?.delay?.rule, of: number)
        if let rules, rules != HostRules() {
            if ruledHosts.updateValue(number, forKey: origin) == nil { retain(number) }
            drawsLots = drawsLots || rules.delay.map { $0.random > .zero } ?? false
        } else if ruledHosts.removeValue(forKey: origin) != nil {
            release(number)
        }
        return number
    }

    /// Takes a host back that was given up.
    mutating func restore(_ origin: Origin) {
        let number = origins.retain(origin)
        queues.restore(number)
        release(number)
    }
}
