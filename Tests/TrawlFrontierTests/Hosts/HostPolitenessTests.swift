import Testing
import TrawlFrontier
import TrawlHTTP

private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: UInt64(seconds * 1e9)) }

@Suite("What hosts are spared")
struct HostPolitenessTests {
    private func drain(_ queues: inout HostQueues, at now: MonotonicInstant) -> [UInt64] {
        var hops: [UInt64] = []
        while let ready = queues.next(at: now) { hops.append(ready.hop) }
        return hops
    }

    // MARK: Delay

    @Test("with a delay from the end hops follow each other one by one, and the wake-up says when")
    func delayFromEnd() {
        var queues = HostQueues(Politeness(limitPerHost: 6, delay: StartDelay(.seconds(2))))
        for hop in 1...3 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        #expect(drain(&queues, at: at(10)) == [1])
        #expect(queues.nextWakeUp == nil)
        #expect(drain(&queues, at: at(15)) == [])
        queues.returned(0, at: at(20))
        #expect(queues.state(of: 0) == .snoozed(until: at(22)))
        #expect(queues.nextWakeUp == at(22))
        #expect(drain(&queues, at: at(21.999)) == [])
        #expect(drain(&queues, at: at(22)) == [2])
        queues.returned(0, at: at(22))
        #expect(drain(&queues, at: at(24)) == [3])
    }

    @Test("with a delay from start to start hops may run side by side")
    func delayFromStart() {
        var queues = HostQueues(Politeness(limitPerHost: 2, delay: StartDelay(.seconds(2), from: .start)))
        for hop in 1...4 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        #expect(drain(&queues, at: at(10)) == [1])
        #expect(drain(&queues, at: at(12)) == [2])
        #expect(drain(&queues, at: at(14)) == [], "two are in process")
        queues.returned(0, at: at(14))
        #expect(drain(&queues, at: at(14)) == [3])
    }

    @Test("the spread is added by chance", arguments: [(0, 2), (0.5, 3), (1, 4), (7, 4), (Double.nan, 4)])
    func spread(_ random: Double, _ seconds: Double) {
        var queues = HostQueues(
            Politeness(limitPerHost: 0, delay: StartDelay(.seconds(2), spread: .seconds(2), from: .start)))
        queues.enqueue(1, host: 0)
        #expect(queues.next(at: at(1), random: random)?.hop == 1)
        #expect(queues.nextWakeUp == at(1 + seconds))
    }

    @Test("a hop that was put back has not started: no delay, and it comes next")
    func delayPutBack() {
        for basis in [.start, .end] as [StartDelay.Basis] {
            var queues = HostQueues(Politeness(limitPerHost: 2, delay: StartDelay(.seconds(2), from: basis)))
            for hop in 1...2 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
            queues.enqueue(9, host: 1)
            for _ in 0..<3 {
                guard let ready = queues.next(at: at(5)) else {
                    Issue.record("nothing is ready")
                    return
                }
                #expect(ready.hop == 1)
                queues.putBack(ready)
                #expect(queues.nextWakeUp == nil)
            }
            #expect(drain(&queues, at: at(5)) == [1, 9])
        }
    }

    @Test("for how long a host is held back is known, also what its distance adds when a hop ends")
    func holdOff() {
        var queues = HostQueues(Politeness(delay: StartDelay(.seconds(2))))
        #expect(queues.holdOff(of: 0, at: at(1)) == .zero)
        #expect(queues.holdOff(of: 0, at: at(1), isEnding: true) == .seconds(2))
        queues.enqueue(1, host: 0)
        #expect(drain(&queues, at: at(1)) == [1])
        queues.snooze(0, until: at(8))
        #expect(queues.holdOff(of: 0, at: at(3), isEnding: true) == .seconds(5))
        #expect(queues.holdOff(of: 0, at: at(7), isEnding: true) == .seconds(2))
        queues.returned(0, at: at(3))
        #expect(queues.holdOff(of: 0, at: at(3)) == .seconds(5))
        #expect(queues.holdOff(of: 0, at: at(9)) == .zero)
    }

    @Test("a hop that comes late waits for the delay too")
    func delayOfEmptyHost() {
        var queues = HostQueues(Politeness(delay: StartDelay(.seconds(2))))
        queues.enqueue(1, host: 0)
        #expect(drain(&queues, at: at(1)) == [1])
        queues.returned(0, at: at(3))
        #expect(queues.isKept(0))
        queues.enqueue(2, host: 0)
        #expect(drain(&queues, at: at(4)) == [])
        #expect(drain(&queues, at: at(5)) == [2])
        queues.returned(0, at: at(6))
        #expect(drain(&queues, at: at(9)) == [] && !queues.isKept(0))
    }

    @Test("a host's own delay and limit count in place of those of all")
    func ownRules() {
        var queues = HostQueues(Politeness(limitPerHost: 1))
        for hop in 1...4 as ClosedRange<UInt64> {
            queues.enqueue(hop, host: 0)
            queues.enqueue(hop + 10, host: 1)
            queues.enqueue(hop + 20, host: 2)
        }
        queues.setLimit(3, of: 0)
        queues.setDelay(StartDelay(.seconds(1), from: .start), of: 1)
        #expect((0..<4).map { queues.hasDelay(of: $0) } == [false, true, false, false])
        #expect(Set(drain(&queues, at: at(1))) == [1, 2, 3, 11, 21])
        queues.returned(1, at: at(1.5))
        queues.returned(2, at: at(1.5))
        #expect(drain(&queues, at: at(1.5)) == [22])
        #expect(drain(&queues, at: at(2)) == [12])
        queues.setLimit(nil, of: 0)
        for _ in 0..<3 { queues.returned(0, at: at(3)) }
        #expect(drain(&queues, at: at(3)) == [4])
        queues.setDelay(nil, of: 1)
        queues.returned(1, at: at(3))
        #expect(drain(&queues, at: at(3)) == [13])
        #expect(!queues.hasDelay(of: 1))
        var slow = HostQueues(Politeness(delay: StartDelay(.seconds(1))))
        slow.setDelay(StartDelay.none, of: 7)
        #expect((6...8).map { slow.hasDelay(of: $0) } == [true, false, true])
    }

    @Test("another delay holds for hops that wait, too: from the last end or start on")
    func changedDelay() {
        var queues = HostQueues(Politeness(limitPerHost: 2, delay: StartDelay(.seconds(10))))
        for hop in 1...9 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        #expect(drain(&queues, at: at(1)) == [1])
        queues.returned(0, at: at(2))
        let delays: [(delay: StartDelay?, until: Double)] = [
            (nil, 12), (StartDelay(.seconds(2)), 4), (StartDelay(.seconds(20), spread: .seconds(5)), 22), (nil, 12),
            (StartDelay(.seconds(4), from: .start), 5),
        ]
        for (delay, until) in delays {
            queues.setDelay(delay, of: 0)
            #expect(queues.state(of: 0) == .snoozed(until: at(until)))
        }
        #expect(drain(&queues, at: at(4.9)) == [])
        #expect(drain(&queues, at: at(5)) == [2])
        // What is over already is waited for no longer.
        queues.setDelay(StartDelay(.seconds(1), from: .start), of: 0)
        #expect(drain(&queues, at: at(7)) == [3])
        for _ in 0..<2 { queues.returned(0, at: at(8)) }
        queues.setDelay(StartDelay(.seconds(3)), of: 0)
        #expect(drain(&queues, at: at(10)) == [])
        #expect(drain(&queues, at: at(11)) == [4])
        queues.returned(0, at: at(12))
        queues.setDelay(StartDelay.none, of: 0)
        #expect(drain(&queues, at: at(12)) == [5, 6])
        // Without a delay ends are known as well, of hosts that had one.
        for _ in 0..<2 { queues.returned(0, at: at(13)) }
        queues.setDelay(nil, of: 0)
        #expect(drain(&queues, at: at(22.9)) == [])
        #expect(drain(&queues, at: at(23)) == [7])
    }

    @Test("the same delay once more leaves what chance has added; a hop that was put back did not start")
    func sameDelay() {
        let delay = StartDelay(.seconds(2), spread: .seconds(2), from: .start)
        var queues = HostQueues(Politeness(limitPerHost: 0, delay: delay))
        for hop in 1...2 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        guard let ready = queues.next(at: at(1), random: 1) else {
            Issue.record("nothing is ready")
            return
        }
        queues.setDelay(delay, of: 0)
        #expect(queues.nextWakeUp == at(5))
        queues.putBack(ready)
        queues.setDelay(StartDelay(.seconds(9), from: .start), of: 0)
        #expect(queues.nextWakeUp == nil)
        #expect(drain(&queues, at: at(1)) == [1])
        #expect(queues.nextWakeUp == at(10))
    }

    // MARK: Snoozed and retired

    @Test("a snoozed host starts nothing before its time, the latest of several, and holds up no other")
    func snooze() {
        var queues = HostQueues()
        queues.snooze(3, until: at(20))
        queues.snooze(3, until: at(12))
        queues.enqueue(1, host: 3)
        queues.enqueue(2, host: 4)
        #expect(drain(&queues, at: at(10)) == [2])
        #expect(queues.state(of: 3) == .snoozed(until: at(20)))
        #expect(queues.nextWakeUp == at(20))
        #expect(drain(&queues, at: at(19.9)) == [])
        #expect(drain(&queues, at: at(25)) == [1])
        #expect(queues.nextWakeUp == nil)
    }

    @Test("a host snoozed while its turn was to come is passed over")
    func snoozeReady() {
        var queues = HostQueues()
        let place = queues.enqueue(1, host: 0)
        queues.enqueue(2, host: 1)
        queues.snooze(0, until: at(5))
        #expect(drain(&queues, at: at(1)) == [2])
        #expect(queues.remove(1, at: place) == true)
        #expect(queues.isEmpty && queues.isKept(0))
        #expect(drain(&queues, at: at(5)) == [] && !queues.isKept(0))
    }

    @Test("a time in the past, and one that never comes")
    func snoozeBounds() {
        var queues = HostQueues()
        queues.enqueue(1, host: 0)
        queues.enqueue(2, host: 1)
        queues.snooze(0, until: at(1))
        queues.snooze(1, until: MonotonicInstant(nanoseconds: .max))
        #expect(drain(&queues, at: at(2)) == [1])
        #expect(drain(&queues, at: at(1e9)) == [])
        queues.restore(1)
        #expect(drain(&queues, at: at(1e9)) == [], "it was not retired")
    }

    @Test("hops of a retired host are given out as abandoned, those that come later too")
    func retire() {
        var queues = HostQueues(limitPerHost: 1)
        for hop in 1...3 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        queues.enqueue(9, host: 1)
        #expect(queues.next(at: at(0))?.hop == 1)
        queues.retire(0)
        queues.retire(0)
        #expect(queues.state(of: 0) == .retired && queues.isKept(0))
        #expect(drain(&queues, at: at(1)) == [9])
        #expect(queues.count == 2)
        let abandoned = [queues.nextAbandoned(), queues.nextAbandoned(), queues.nextAbandoned()]
        #expect(abandoned == [2, 3, nil])
        queues.returned(0, at: at(1))
        queues.enqueue(4, host: 0)
        let place = queues.enqueue(5, host: 0)
        #expect(queues.remove(5, at: place) == true)
        #expect(drain(&queues, at: at(2)) == [])
        #expect(queues.nextAbandoned() == 4)
        queues.enqueue(6, host: 0)
        queues.restore(0)
        #expect(queues.nextAbandoned() == nil)
        #expect(drain(&queues, at: at(2)) == [6])
    }

    @Test("a hop in process at the time its host is retired can be put back, and is abandoned")
    func retirePutBack() {
        var queues = HostQueues()
        queues.enqueue(1, host: 0)
        guard let ready = queues.next(at: at(0)) else { return }
        queues.retire(0)
        queues.putBack(ready)
        #expect(queues.next(at: at(0)) == nil)
        #expect(queues.nextAbandoned() == 1)
        #expect(queues.isEmpty && queues.inProcessCount == 0)
    }

    // MARK: Circuit

    private let careful = Politeness(
        limitPerHost: 3,
        circuit: CircuitPolicy(
            failuresInRow: 2, failureShare: 0,
            backoff: Backoff(first: .seconds(10), longest: .seconds(40), jitter: .none), retiresAfter: 3))

    @Test("a host that fails is left alone, then asked by one hop, and open to all when that is answered")
    func circuit() {
        var queues = HostQueues(careful)
        for hop in 1...9 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        #expect(drain(&queues, at: at(0)) == [1, 2, 3])
        #expect(queues.returned(0, at: at(1), .failed) == .none)
        #expect(queues.returned(0, at: at(1), .failed) == .opened(until: at(11)))
        #expect(queues.state(of: 0) == .snoozed(until: at(11)))
        #expect(drain(&queues, at: at(10)) == [])
        // The third of before ends late and badly; it does not count.
        #expect(queues.returned(0, at: at(10), .failed) == .none)
        guard let probe = queues.next(at: at(11)) else {
            Issue.record("no probe")
            return
        }
        #expect(probe == ReadyHop(hop: 4, host: 0, isProbe: true))
        #expect(queues.circuitState(of: 0) == .probing && queues.state(of: 0) == .inProcess)
        #expect(drain(&queues, at: at(12)) == [])
        #expect(queues.returned(0, at: at(13), .failed, wasProbe: true) == .opened(until: at(33)))
        #expect(drain(&queues, at: at(32)) == [])
        guard let second = queues.next(at: at(33)) else {
            Issue.record("no probe")
            return
        }
        #expect(second.isProbe && second.hop == 5)
        #expect(queues.returned(0, at: at(34), .answered, wasProbe: true) == .closed)
        #expect(drain(&queues, at: at(34)) == [6, 7, 8])
    }

    @Test("a probe that is cancelled, put back or loses its worker is followed by another")
    func probes() {
        var queues = HostQueues(careful)
        for hop in 1...9 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        #expect(drain(&queues, at: at(0)) == [1, 2, 3])
        for _ in 0..<2 { queues.returned(0, at: at(1), .failed) }
        guard let probe = queues.next(at: at(11)) else {
            Issue.record("no probe")
            return
        }
        queues.putBack(probe)
        guard let again = queues.next(at: at(11)) else {
            Issue.record("no probe")
            return
        }
        #expect(again == probe)
        #expect(queues.next(at: at(11)) == nil)
        #expect(queues.returned(0, at: at(12), .unknown, wasProbe: true) == .none)
        guard let third = queues.next(at: at(12)) else {
            Issue.record("no probe")
            return
        }
        #expect(third.isProbe && third.hop == 5)
        #expect(queues.next(at: at(12)) == nil)
    }

    @Test("a host that never answers is retired")
    func circuitRetires() {
        var queues = HostQueues(careful)
        for hop in 1...9 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        var now = 0.0
        var changes: [HostChange] = []
        while changes.last != .retired, now < 1000 {
            while let ready = queues.next(at: at(now)) {
                let change = queues.returned(0, at: at(now), .failed, wasProbe: ready.isProbe)
                if change != .none { changes.append(change) }
            }
            now += 1
        }
        #expect(changes == [.opened(until: at(10)), .opened(until: at(30)), .opened(until: at(70)), .retired])
        var abandoned: [UInt64] = []
        while let hop = queues.nextAbandoned() { abandoned.append(hop) }
        #expect(abandoned == [6, 7, 8, 9])
    }

    @Test("Retry-After beyond the end of an open circuit counts too")
    func circuitAndSnooze() {
        var queues = HostQueues(careful)
        for hop in 1...9 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        #expect(drain(&queues, at: at(0)) == [1, 2, 3])
        queues.snooze(0, until: at(100))
        queues.returned(0, at: at(1), .failed)
        #expect(queues.returned(0, at: at(1), .failed) == .opened(until: at(100)))
        #expect(drain(&queues, at: at(99)) == [])
        #expect(drain(&queues, at: at(100)) == [4])
    }

    @Test("without a policy failures change nothing")
    func noCircuit() {
        var queues = HostQueues()
        for hop in 1...100 as ClosedRange<UInt64> {
            queues.enqueue(hop, host: 0)
            #expect(queues.next(at: at(0))?.hop == hop)
            #expect(queues.returned(0, at: at(0), .failed) == .none)
        }
    }

    // MARK: Priorities

    @Test("within a host hops of higher priority go first, each level in its order")
    func priorities() {
        var queues = HostQueues(limitPerHost: 0)
        queues.enqueue(1, host: 0)
        queues.enqueue(2, host: 0, priority: .low)
        queues.enqueue(3, host: 0, priority: .high)
        queues.enqueue(4, host: 0)
        queues.enqueue(5, host: 0, priority: .high, front: true)
        queues.enqueue(6, host: 0, front: true)
        queues.enqueue(7, host: 0, priority: .veryHigh)
        queues.enqueue(8, host: 0, priority: .veryLow, front: true)
        queues.enqueue(9, host: 0, priority: .low)
        #expect(drain(&queues, at: at(0)) == [7, 5, 3, 6, 1, 4, 2, 9, 8])
    }

    @Test("priorities do not let one host go before another")
    func prioritiesOfHosts() {
        var queues = HostQueues(limitPerHost: 0)
        for hop in 1...3 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0, priority: .veryLow) }
        for hop in 11...13 as ClosedRange<UInt64> { queues.enqueue(hop, host: 1, priority: .veryHigh) }
        #expect(drain(&queues, at: at(0)) == [1, 11, 2, 12, 3, 13])
    }

    @Test("numbers from 0 to 1 become levels")
    func levels() {
        let levels = [-1, 0, 0.1, 0.2, 0.39, 0.4, 0.5, 0.59, 0.6, 0.75, 0.8, 1, 9, .nan].map { HopPriority($0) }
        #expect(
            levels == [
                .veryLow, .veryLow, .veryLow, .low, .low, .normal, .normal, .normal, .high, .high, .veryHigh, .veryHigh,
                .veryHigh, .normal,
            ])
    }

    // MARK: Numbers

    @Test("a forgotten host is as new; rules and times of the old one do not pass to the next")
    func forget() {
        var queues = HostQueues(Politeness(limitPerHost: 1, circuit: CircuitPolicy(failuresInRow: 1)))
        queues.setLimit(5, of: 0)
        queues.enqueue(1, host: 0)
        #expect(drain(&queues, at: at(0)) == [1])
        queues.returned(0, at: at(0), .failed)
        queues.snooze(0, until: at(1000))
        queues.forget(0)
        queues.forget(77)
        #expect(queues.nextWakeUp == nil && queues.state(of: 0) == .exhausted)
        for hop in 2...4 as ClosedRange<UInt64> { queues.enqueue(hop, host: 0) }
        #expect(drain(&queues, at: at(0)) == [2])
    }

    @Test("an origin keeps its number while its host is held back, and loses it afterwards")
    func numbers() {
        func origin(_ number: Int) -> Origin { Origin(scheme: "http", host: "host\(number).example", port: 80) }
        var queues = HostQueues()
        var table = OriginTable(idleLimit: 2)
        let snoozed = table.retain(origin(0))
        queues.snooze(snoozed, until: at(60))
        table.release(snoozed, of: &queues)
        for number in 1..<100 { table.release(table.retain(origin(number)), of: &queues) }
        #expect(table[snoozed] == origin(0))
        #expect(table.count <= 4)
        #expect(queues.next(at: at(60)) == nil)
        for number in 1..<100 { table.release(table.retain(origin(number)), of: &queues) }
        #expect(table[snoozed] != origin(0))
        #expect(table.count == 2)
    }
}
