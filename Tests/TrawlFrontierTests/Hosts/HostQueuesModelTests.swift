import TestSupport
import Testing
import TrawlFrontier
import TrawlHTTP

/// Where time plays no part.
private let start = MonotonicInstant(nanoseconds: 0)

/// The same rules with plain arrays.
private struct Model {
    let limit: Int
    var waiting: [UInt32: [UInt64]] = [:]
    var inProcess: [UInt32: Int] = [:]
    var turns: [UInt32] = []

    func isReady(_ host: UInt32) -> Bool {
        !(waiting[host] ?? []).isEmpty && (limit == 0 || inProcess[host, default: 0] < limit)
    }

    mutating func settle(_ host: UInt32) {
        if !isReady(host) {
            turns.removeAll { $0 == host }
        } else if !turns.contains(host) {
            turns.append(host)
        }
    }

    mutating func enqueue(_ hop: UInt64, host: UInt32, front: Bool) {
        waiting[host, default: []].insert(hop, at: front ? 0 : (waiting[host] ?? []).count)
        settle(host)
    }

    mutating func next() -> ReadyHop? {
        guard let host = turns.first, let hop = waiting[host]?.removeFirst() else { return nil }
        turns.removeFirst()
        inProcess[host, default: 0] += 1
        settle(host)
        return ReadyHop(hop: hop, host: host)
    }

    mutating func putBack(_ ready: ReadyHop) {
        inProcess[ready.host, default: 0] -= 1
        waiting[ready.host, default: []].insert(ready.hop, at: 0)
        turns.removeAll { $0 == ready.host }
        turns.insert(ready.host, at: 0)
    }

    mutating func returned(_ host: UInt32) {
        inProcess[host, default: 0] -= 1
        settle(host)
    }

    mutating func remove(_ hop: UInt64, host: UInt32) {
        waiting[host]?.removeAll { $0 == hop }
        settle(host)
    }

    func state(of host: UInt32) -> HostState {
        isReady(host) ? .ready : inProcess[host, default: 0] > 0 ? .inProcess : .exhausted
    }
}

@Suite("Host queues against a model")
struct HostQueuesModelTests {
    @Test("random events give the same hops in the same order, each once", arguments: 0..<60 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 0...3, using: &random)
        let hosts = UInt32.random(in: 1...12, using: &random)
        var queues = HostQueues(limitPerHost: limit)
        var model = Model(limit: limit)
        var places: [UInt64: (place: WaitingPlace, host: UInt32)] = [:]
        var stale: [(hop: UInt64, place: WaitingPlace)] = []
        var running: [ReadyHop] = []
        var lastHop: UInt64 = 0
        for _ in 0..<1500 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                lastHop += 1
                let host = UInt32.random(in: 0..<hosts, using: &random)
                let front = random.once(in: 4)
                places[lastHop] = (queues.enqueue(lastHop, host: host, front: front), host)
                model.enqueue(lastHop, host: host, front: front)
            case 4..<7:
                let ready = queues.next(at: start)
                #expect(ready == model.next(), "seed \(seed)")
                guard let ready else { continue }
                guard let entry = places.removeValue(forKey: ready.hop) else {
                    Issue.record("hop \(ready.hop) came twice or after its removal, seed \(seed)")
                    continue
                }
                stale.append((ready.hop, entry.place))
                if random.once(in: 5) {
                    places[ready.hop] = (queues.putBack(ready), ready.host)
                    stale.removeLast()
                    model.putBack(ready)
                } else {
                    running.append(ready)
                }
            case 7, 8:
                guard let index = running.indices.randomElement(using: &random) else { continue }
                let ready = running.remove(at: index)
                queues.returned(ready.host, at: start)
                model.returned(ready.host)
            case _:
                if let old = stale.randomElement(using: &random) {
                    #expect(queues.remove(old.hop, at: old.place) == false, "seed \(seed)")
                }
                guard let hop = places.keys.sorted().randomElement(using: &random),
                    let entry = places.removeValue(forKey: hop)
                else { continue }
                #expect(queues.remove(hop, at: entry.place) == true, "seed \(seed)")
                model.remove(hop, host: entry.host)
            }
            #expect(queues.count == places.count, "seed \(seed)")
            #expect(queues.inProcessCount == running.count, "seed \(seed)")
            for host in 0..<hosts {
                #expect(queues.state(of: host) == model.state(of: host), "seed \(seed)")
                #expect(limit == 0 || queues.inProcessCount(of: host) <= limit, "seed \(seed)")
            }
        }
        // Nothing stays behind.
        while !places.isEmpty {
            guard let ready = queues.next(at: start) else {
                guard let done = running.popLast() else { break }
                queues.returned(done.host, at: start)
                continue
            }
            #expect(places.removeValue(forKey: ready.hop) != nil, "seed \(seed)")
            running.append(ready)
        }
        #expect(places.isEmpty && queues.isEmpty, "seed \(seed)")
    }
}
