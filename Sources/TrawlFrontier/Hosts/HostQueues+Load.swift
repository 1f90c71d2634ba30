/// What hosts have to do, for those who look on.
extension HostQueues {
    /// The hosts with most to do, those with most hops in process first, then those with most that wait.
    ///
    /// Nothing is counted for this while hops come and go, so it looks at all hops that wait: a few milliseconds for a
    /// million.
    ///
    /// - Parameter most: How many at most.
    /// - Returns: Those hosts, and how many there are where something waits or is in process, or that are held back for
    ///   a time or given up.
    package func busiest(_ most: Int) -> (hosts: [HostLoad], count: Int) {
        var waiting = [UInt32](repeating: 0, count: hosts.count)
        if count > 0 {
            for node in nodes where node.host != Link.none { waiting[Int(node.host)] &+= 1 }
        }
        var busiest: [(host: Int, rank: Rank)] = []
        var found = 0
        for index in hosts.indices {
            let rank = Rank(inProcess: hosts[index].inProcess, waiting: waiting[index])
            guard rank > Rank() || isKept(UInt32(truncatingIfNeeded: index)) else { continue }
            found += 1
            if busiest.count == most {
                guard let last = busiest.last, rank > last.rank else { continue }
                busiest.removeLast()
            }
            // Few are kept, and most of many go no further than this.
            let place = busiest.firstIndex { $0.rank < rank } ?? busiest.count
            busiest.insert((index, rank), at: place)
        }
        let loads = busiest.map { host, rank in
            let number = UInt32(truncatingIfNeeded: host)
            return HostLoad(
                host: number, inProcess: Int(rank.inProcess), waiting: Int(rank.waiting), state: state(of: number),
                circuit: circuitState(of: number))
        }
        return (loads, found)
    }

    private struct Rank: Comparable {
        var inProcess: UInt32 = 0
        var waiting: UInt32 = 0

        static func < (left: Rank, right: Rank) -> Bool {
            (left.inProcess, left.waiting) < (right.inProcess, right.waiting)
        }
    }
}
