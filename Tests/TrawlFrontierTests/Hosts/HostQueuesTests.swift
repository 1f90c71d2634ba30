import Testing
import TrawlFrontier
import TrawlHTTP

/// Where time plays no part.
private let start = MonotonicInstant(nanoseconds: 0)

@Suite("Host queues")
struct HostQueuesTests {
    private func drain(_ queues: inout HostQueues) -> [UInt64] {
        var hops: [UInt64] = []
        while let ready = queues.next(at: start) { hops.append(ready.hop) }
        return hops
    }

    @Test("hops of one host come in the order they went in, those at the front first")
    func order() {
        var queues = HostQueues(limitPerHost: 0)
        for hop in 1...4 as ClosedRange<UInt64> { queues.enqueue(hop, host: 3) }
        queues.enqueue(5, host: 3, front: true)
        queues.enqueue(6, host: 3, front: true)
        #expect(queues.count == 6)
        #expect(drain(&queues) == [6, 5, 1, 2, 3, 4])
        #expect(queues.isEmpty && queues.inProcessCount == 6)
    }

    @Test("hosts take turns")
    func turns() {
        var queues = HostQueues(limitPerHost: 0)
        for hop in 1...5 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        queues.enqueue(10, host: 1)
        queues.enqueue(20, host: 2)
        queues.enqueue(11, host: 1)
        #expect(drain(&queues) == [1, 10, 20, 2, 11, 3, 4, 5])
    }

    @Test("a host never has more hops in process than its limit, and a returned place is used again")
    func limit() {
        var queues = HostQueues(limitPerHost: 2)
        for hop in 1...4 as ClosedRange<UInt64> { queues.enqueue(hop, host: 7) }
        #expect(drain(&queues) == [1, 2])
        #expect(queues.state(of: 7) == .inProcess)
        queues.returned(7, at: start)
        #expect(queues.state(of: 7) == .ready)
        #expect(drain(&queues) == [3])
        queues.returned(7, at: start)
        queues.returned(7, at: start)
        #expect(drain(&queues) == [4])
        queues.returned(7, at: start)
        #expect(queues.state(of: 7) == .exhausted)
    }

    @Test("a host at its limit holds up no other")
    func independent() {
        var queues = HostQueues(limitPerHost: 1)
        for hop in 1...3 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        #expect(queues.next(at: start) == ReadyHop(hop: 1, host: 0))
        queues.enqueue(9, host: 1)
        #expect(queues.next(at: start) == ReadyHop(hop: 9, host: 1))
        #expect(queues.next(at: start) == nil)
    }

    @Test("a hop that was put back comes next")
    func putBack() {
        var queues = HostQueues(limitPerHost: 1)
        for hop in 1...2 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        queues.enqueue(9, host: 1)
        guard let first = queues.next(at: start) else { return }
        queues.putBack(first)
        #expect(queues.inProcessCount == 0)
        #expect(queues.next(at: start) == first)
        #expect(queues.next(at: start) == ReadyHop(hop: 9, host: 1))
    }

    @Test("a cancelled hop is gone; one that was handed out is not there to remove")
    func remove() {
        var queues = HostQueues(limitPerHost: 1)
        let first = queues.enqueue(1, host: 0)
        let second = queues.enqueue(2, host: 0)
        let third = queues.enqueue(3, host: 0)
        #expect(queues.next(at: start)?.hop == 1)
        #expect(queues.remove(1, at: first) == false)
        #expect(queues.remove(2, at: second) == true)
        #expect(queues.remove(2, at: second) == false)
        queues.enqueue(4, host: 5)
        #expect(queues.remove(2, at: second) == false)
        queues.returned(0, at: start)
        #expect(queues.remove(3, at: third) == true)
        #expect(queues.state(of: 0) == .exhausted)
        #expect(queues.next(at: start) == ReadyHop(hop: 4, host: 5))
        #expect(queues.next(at: start) == nil && queues.isEmpty)
    }

    @Test("a busy host delays a ready one by one hop of each host at most")
    func fairness() {
        var queues = HostQueues(limitPerHost: 4)
        var hop: UInt64 = 0
        for host in 0..<10 as Range<UInt32> {
            for _ in 0..<(host == 0 ? 1000 : 20) {
                hop += 1
                queues.enqueue(hop, host: host)
            }
        }
        var turns: [UInt32] = []
        for _ in 0..<200 {
            guard let ready = queues.next(at: start) else { break }
            turns.append(ready.host)
            queues.returned(ready.host, at: start)
        }
        for start in stride(from: 0, to: 200, by: 10) {
            #expect(Set(turns[start..<start + 10]).count == 10)
        }
    }

    @Test("the queues can fill and empty again and again")
    func manyHops() {
        var queues = HostQueues(limitPerHost: 0)
        for round in 0..<2 {
            for hop in 0..<200_000 as Range<UInt64> { queues.enqueue(hop, host: UInt32(hop % 1000)) }
            #expect(queues.count == 200_000, "round \(round)")
            var handedOut = 0
            while let ready = queues.next(at: start) {
                queues.returned(ready.host, at: start)
                handedOut += 1
            }
            #expect(handedOut == 200_000, "round \(round)")
        }
    }
}
