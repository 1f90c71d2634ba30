import TrawlFrontier
import TrawlHTTP

/// What it takes to find the next hop among many hosts: the coordinator's host queues, without the network.
struct HostTurns {
    /// Hosts that have hops waiting at all times.
    let hosts: Int
    /// Milliseconds between two starts at a host; 0 is no delay. With one, hosts stand in the heap of those held back.
    let delay: Int

    /// Two million turns, each a hop taken, ended and queued again at its host.
    ///
    /// - Returns: One JSON line: CPU microseconds a turn.
    func run() -> String {
        let turns = 2_000_000
        var queues = HostQueues(
            Politeness(limitPerHost: 2, delay: delay == 0 ? .none : StartDelay(.milliseconds(delay), from: .start)))
        for host in 0..<hosts {
            for hop in 0..<3 { queues.enqueue(UInt64(host * 3 + hop), host: UInt32(host)) }
        }
        // Time goes on by as much as keeps all hosts busy, and no faster.
        let step = delay == 0 ? 1000 : UInt64(delay) * 1_000_000 / UInt64(hosts)
        var now: UInt64 = 1_000_000_000
        let start = Measurements.cpu(Measurements.own)
        var taken = 0
        while taken < turns {
            now += step
            guard let hop = queues.next(at: MonotonicInstant(nanoseconds: now), random: 0.5) else { continue }
            taken += 1
            queues.returned(hop.host, at: MonotonicInstant(nanoseconds: now), .answered)
            queues.enqueue(hop.hop, host: hop.host)
        }
        let cpu = Measurements.cpu(Measurements.own) - start
        return "{\"microseconds\":\(cpu / Double(turns) * 1e6)}"
    }
}
