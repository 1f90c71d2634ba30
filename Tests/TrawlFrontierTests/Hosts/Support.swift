@testable import TrawlFrontier

extension HostQueues {
    /// Queues without rules but one.
    ///
    /// - Parameter limitPerHost: Hops in process that one host may have; 0 is no limit.
    init(limitPerHost: Int) {
        self.init(Politeness(limitPerHost: limitPerHost))
    }

    /// Hops of this host that were handed out and have not come back.
    func inProcessCount(of host: UInt32) -> Int {
        host < hosts.count ? Int(hosts[Int(host)].inProcess) : 0
    }
}
