import TestSupport
import Testing
import TrawlFrontier
import TrawlHTTP

/// Which hop of a host may start, by plain arrays and times.
private struct Model {
    struct Host {
        var waiting: [(hop: UInt64, priority: HopPriority)] = []
        var inProcess = 0
        var limit: Int?
        var delay: StartDelay?
        var notBefore: UInt64 = 0
        var snoozedUntil: UInt64 = 0
        var lastStart: UInt64 = 0
        var lastEnd: UInt64 = 0
        /// Whether the last start and end are taken down.
        var isFollowed = false
        var circuit = HostCircuit()
        var isRetired = false
    }

    var rules: Politeness
    var hosts: [Host]

    func delay(_ host: Int) -> StartDelay { hosts[host].delay ?? rules.delay }

    /// Whether a hop of the host may start at that time.
    func mayStart(_ host: Int, _ now: UInt64) -> Bool {
        let entry = hosts[host]
        let delay = delay(host)
        let limit = !delay.isNone && delay.basis == .end ? 1 : entry.limit ?? rules.limitPerHost
        return !entry.waiting.isEmpty && (limit == 0 || entry.inProcess < limit) && entry.notBefore <= now
            && entry.snoozedUntil <= now && entry.circuit.state != .probing && !entry.isRetired
    }

    mutating func insert(_ hop: UInt64, _ host: Int, _ priority: HopPriority, front: Bool) {
        let waiting = hosts[host].waiting
        let place =
            waiting.firstIndex { front ? $0.priority <= priority : $0.priority < priority } ?? waiting.count
        hosts[host].waiting.insert((hop, priority), at: place)
        if priority != .normal { hosts[host].isFollowed = true }
    }

    /// A hop of the host started or ended.
    mutating func note(_ host: Int, _ time: WritableKeyPath<Host, UInt64>, _ now: UInt64, hasFailed: Bool = false) {
        guard hosts[host].isFollowed || hasFailed || !rules.delay.isNone else { return }
        hosts[host].isFollowed = true
        hosts[host][keyPath: time] = now
    }

    mutating func setDelay(_ delay: StartDelay?, _ host: Int) {
        let before = self.delay(host)
        hosts[host].delay = delay
        hosts[host].isFollowed = true
        let after = self.delay(host)
        guard after != before else { return }
        let last = after.basis == .end ? hosts[host].lastEnd : hosts[host].lastStart
        hosts[host].notBefore = after.isNone || last == 0 ? 0 : last + UInt64(after.least.clampedNanoseconds)
    }
}

@Suite("What hosts are spared, against a model")
struct HostPolitenessModelTests {
    private func rules(_ random: inout SeededGenerator) -> Politeness {
        let delays: [StartDelay] = [
            .none, StartDelay(.nanoseconds(30)), StartDelay(.nanoseconds(10), spread: .nanoseconds(40)),
            StartDelay(.nanoseconds(20), from: .start),
        ]
        let policy = CircuitPolicy(
            failuresInRow: 3, failureShare: 0.6, shareOf: 8,
            backoff: Backoff(first: .nanoseconds(50), longest: .nanoseconds(300)),
            retiresAfter: random.bool() ? 4 : nil)
        return Politeness(
            limitPerHost: Int.random(in: 0...3, using: &random), delay: random.pick(delays),
            circuit: random.bool() ? policy : nil)
    }

    @Test(
        "random events: nothing starts too early, nothing that may start is withheld",
        arguments: 0..<80 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...8, using: &random)
        let start = rules(&random)
        var queues = HostQueues(start)
        var model = Model(rules: start, hosts: Array(repeating: Model.Host(), count: count))
        var places: [UInt64: (place: WaitingPlace, host: Int)] = [:]
        var running: [ReadyHop] = []
        var lastHop: UInt64 = 0
        var now: UInt64 = 1
        for _ in 0..<1500 {
            let host = Int.random(in: 0..<count, using: &random)
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<12:
                lastHop += 1
                let front = random.once(in: 4)
                let priority = random.once(in: 3) ? random.pick(HopPriority.allCases) : .normal
                places[lastHop] = (
                    queues.enqueue(lastHop, host: UInt32(host), priority: priority, front: front), host
                )
                model.insert(lastHop, host, priority, front: front)
            case 12..<24:
                // A number that is 0 or 1 is the same however it is rounded.
                let chance = random.bool() ? 1.0 : 0
                guard let ready = queues.next(at: MonotonicInstant(nanoseconds: now), random: chance) else {
                    #expect(!model.hosts.indices.contains { model.mayStart($0, now) }, "seed \(seed)")
                    for index in model.hosts.indices where model.hosts[index].snoozedUntil <= now {
                        model.hosts[index].circuit.waited()
                    }
                    continue
                }
                let index = Int(ready.host)
                #expect(model.mayStart(index, now), "seed \(seed)")
                let first = model.hosts[index].waiting.removeFirst()
                #expect(first.hop == ready.hop && first.priority == ready.priority, "seed \(seed)")
                #expect(places.removeValue(forKey: ready.hop) != nil, "seed \(seed)")
                model.hosts[index].inProcess += 1
                model.hosts[index].circuit.waited()
                #expect(model.hosts[index].circuit.started() == ready.isProbe, "seed \(seed)")
                model.note(index, \.lastStart, now)
                if random.once(in: 6) {
                    places[ready.hop] = (queues.putBack(ready), index)
                    model.hosts[index].inProcess -= 1
                    model.hosts[index].circuit.probeDidNotStart()
                    model.hosts[index].lastStart = 0
                    model.insert(ready.hop, index, ready.priority, front: true)
                    continue
                }
                let delay = model.delay(index)
                if !delay.isNone, delay.basis == .start {
                    let wait = delay.least + (chance == 1 ? delay.spread : .zero)
                    model.hosts[index].notBefore = now + UInt64(wait.clampedNanoseconds)
                }
                running.append(ready)
            case 24..<31:
                guard let place = running.indices.randomElement(using: &random) else { continue }
                let ready = running.remove(at: place)
                let index = Int(ready.host)
                let outcome = random.pick([.answered, .failed, .failed, .unknown] as [HostOutcome])
                let change = queues.returned(
                    ready.host, at: MonotonicInstant(nanoseconds: now), outcome, wasProbe: ready.isProbe, random: 1)
                model.hosts[index].inProcess -= 1
                model.note(index, \.lastEnd, now, hasFailed: outcome == .failed)
                var expected = HostChange.none
                if let policy = model.rules.circuit {
                    if model.hosts[index].snoozedUntil <= now, !queues.isKept(ready.host) {
                        model.hosts[index].circuit.waited()
                    }
                    let action =
                        ready.isProbe
                        ? model.hosts[index].circuit.probeEnded(outcome, by: policy, random: 1)
                        : model.hosts[index].circuit.ended(outcome, by: policy, random: 1)
                    switch action {
                    case .none: break
                    case .open(let wait):
                        let until = max(model.hosts[index].snoozedUntil, now + UInt64(wait.clampedNanoseconds))
                        model.hosts[index].snoozedUntil = until
                        expected = .opened(until: MonotonicInstant(nanoseconds: until))
                    case .close: expected = .closed
                    case .retire:
                        expected = model.hosts[index].isRetired ? .none : .retired
                        model.hosts[index].isRetired = true
                    }
                }
                #expect(change == expected, "seed \(seed)")
                let delay = model.delay(index)
                if !delay.isNone, delay.basis == .end {
                    let wait = delay.least + delay.spread
                    model.hosts[index].notBefore = now + UInt64(wait.clampedNanoseconds)
                }
            case 31:
                let until = now + UInt64.random(in: 0..<200, using: &random)
                queues.snooze(UInt32(host), until: MonotonicInstant(nanoseconds: until))
                model.hosts[host].snoozedUntil = max(model.hosts[host].snoozedUntil, until)
                model.hosts[host].isFollowed = true
            case 32:
                guard let hop = places.keys.sorted().randomElement(using: &random),
                    let entry = places.removeValue(forKey: hop)
                else { continue }
                #expect(queues.remove(hop, at: entry.place) == true, "seed \(seed)")
                model.hosts[entry.host].waiting.removeAll { $0.hop == hop }
            case 33:
                guard random.once(in: 4) else { continue }
                queues.retire(UInt32(host))
                model.hosts[host].isRetired = true
            case 34:
                queues.restore(UInt32(host))
                if model.hosts[host].isRetired {
                    model.hosts[host].isRetired = false
                    model.hosts[host].circuit = HostCircuit()
                    model.hosts[host].notBefore = 0
                    model.hosts[host].snoozedUntil = 0
                    model.hosts[host].lastStart = 0
                    model.hosts[host].lastEnd = 0
                }
            case 35:
                guard let hop = queues.nextAbandoned() else {
                    #expect(!model.hosts.contains { $0.isRetired && !$0.waiting.isEmpty }, "seed \(seed)")
                    continue
                }
                guard let entry = places.removeValue(forKey: hop) else {
                    Issue.record("hop \(hop) came twice, seed \(seed)")
                    continue
                }
                #expect(model.hosts[entry.host].isRetired, "seed \(seed)")
                #expect(model.hosts[entry.host].waiting.removeFirst().hop == hop, "seed \(seed)")
            case 36:
                let limit = random.bool() ? Int.random(in: 0...4, using: &random) : nil
                queues.setLimit(limit, of: UInt32(host))
                model.hosts[host].limit = limit
                model.hosts[host].isFollowed = true
            case 37:
                let least = Duration.nanoseconds(random.pick([25, 80]))
                let delay = random.bool() ? StartDelay(least, from: random.bool() ? .end : .start) : nil
                queues.setDelay(delay, of: UInt32(host))
                model.setDelay(delay, host)
            case _:
                now += UInt64.random(in: 0..<60, using: &random)
            }
            #expect(queues.count == places.count && queues.inProcessCount == running.count, "seed \(seed)")
            for index in model.hosts.indices {
                #expect(queues.inProcessCount(of: UInt32(index)) == model.hosts[index].inProcess, "seed \(seed)")
                #expect((queues.state(of: UInt32(index)) == .retired) == model.hosts[index].isRetired, "seed \(seed)")
            }
            // Whoever sleeps until then finds something, or nothing was there to be found.
            let wake = queues.nextWakeUp?.nanoseconds ?? .max
            for (index, entry) in model.hosts.enumerated() where !entry.isRetired && !model.mayStart(index, now) {
                if model.mayStart(index, max(entry.notBefore, entry.snoozedUntil, now)) {
                    #expect(wake <= max(entry.notBefore, entry.snoozedUntil), "seed \(seed)")
                }
            }
        }
    }

    @Test("with delays each host gets its turn, and none waits for the many hops of another")
    func fairness() {
        var queues = HostQueues(Politeness(limitPerHost: 2, delay: StartDelay(.nanoseconds(10), from: .start)))
        var hop: UInt64 = 0
        for host in 0..<50 as Range<UInt32> {
            for _ in 0..<(host == 0 ? 10_000 : 30) {
                hop += 1
                queues.enqueue(hop, host: host)
            }
        }
        var starts = [[UInt64]](repeating: [], count: 50)
        // One start for each unit of time: 50 hosts that rest for 10 each compete for it.
        for now in 0..<1400 as Range<UInt64> {
            guard let ready = queues.next(at: MonotonicInstant(nanoseconds: now)) else { continue }
            starts[Int(ready.host)].append(now)
            queues.returned(ready.host, at: MonotonicInstant(nanoseconds: now))
        }
        for (host, times) in starts.enumerated() {
            #expect((27...30).contains(times.count), "host \(host)")
            for (before, after) in zip(times, times.dropFirst()) {
                #expect(after - before >= 10 && after - before <= 60, "host \(host)")
            }
        }
    }
}
