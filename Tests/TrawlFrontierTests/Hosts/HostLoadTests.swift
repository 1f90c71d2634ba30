import Testing
import TrawlFrontier
import TrawlHTTP

@Suite("What hosts have to do")
struct HostLoadTests {
    private let now = MonotonicInstant(nanoseconds: 1_000_000_000)

    @Test("those with most in process come first, then those with most that wait")
    func order() {
        var queues = HostQueues(limitPerHost: 2)
        var hop: UInt64 = 0
        for (host, count) in [(0, 1), (1, 5), (2, 9), (3, 2)] as [(UInt32, Int)] {
            for _ in 0..<count {
                hop += 1
                queues.enqueue(hop, host: host)
            }
        }
        while queues.next(at: now) != nil {}
        let (hosts, count) = queues.busiest(10)
        #expect(count == 4)
        #expect(hosts.map(\.host) == [2, 1, 3, 0])
        #expect(hosts.map(\.inProcess) == [2, 2, 2, 1])
        #expect(hosts.map(\.waiting) == [7, 3, 0, 0])
        #expect(hosts.allSatisfy { $0.circuit == .closed })
    }

    @Test("no more than are wanted, and all are counted")
    func most() {
        var queues = HostQueues()
        for host in 0..<1000 as Range<UInt32> {
            for hop in 0...UInt64((host &* 7) % 1000) { queues.enqueue(UInt64(host) << 32 | hop, host: host) }
        }
        let (hosts, count) = queues.busiest(5)
        #expect(count == 1000)
        #expect(hosts.map(\.waiting) == [1000, 999, 998, 997, 996])
        #expect(queues.busiest(0).hosts.isEmpty)
    }

    @Test("hosts that are held back are among them although nothing waits; those with nothing are not")
    func heldBack() {
        var queues = HostQueues(Politeness(limitPerHost: 1, circuit: CircuitPolicy(failuresInRow: 1)))
        queues.enqueue(1, host: 0)
        queues.enqueue(2, host: 1)
        queues.enqueue(3, host: 2)
        while queues.next(at: now) != nil {}
        queues.returned(0, at: now, .answered)
        queues.returned(1, at: now, .failed, random: 0)
        queues.returned(2, at: now, .answered)
        queues.retire(2)
        let (hosts, count) = queues.busiest(10)
        #expect(count == 2)
        #expect(hosts.map(\.host) == [1, 2])
        #expect(hosts.first?.circuit == .open && hosts.last?.state == .retired)
        guard case .snoozed = hosts.first?.state else {
            Issue.record("an open circuit is a time to wait")
            return
        }
    }

    @Test("free places of hops that are gone count for nobody")
    func freeNodes() {
        var queues = HostQueues(limitPerHost: 0)
        for hop in 1...100 as ClosedRange<UInt64> { queues.enqueue(hop, host: UInt32(hop % 3)) }
        while queues.next(at: now) != nil {}
        queues.enqueue(500, host: 1)
        #expect(queues.busiest(10).hosts.reduce(0) { $0 + $1.waiting } == 1)
    }
}
