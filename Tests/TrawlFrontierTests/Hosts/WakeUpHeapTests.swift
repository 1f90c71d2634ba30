import TestSupport
import Testing
import TrawlFrontier
import TrawlHTTP

@Suite("The heap of hosts that are held back")
struct WakeUpHeapTests {
    private func at(_ time: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: time) }

    @Test("numbers come when they are due, and can be moved and taken out", arguments: 0..<40 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = WakeUpHeap()
        var model: [UInt32: UInt64] = [:]
        var now: UInt64 = 0
        for _ in 0..<2000 {
            let number = UInt32.random(in: 0..<50, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0..<3:
                let time = now + UInt64.random(in: 0..<100, using: &random)
                heap.set(number, to: at(time))
                model[number] = time
            case 3:
                heap.remove(number)
                model[number] = nil
            case _:
                now += UInt64.random(in: 0..<20, using: &random)
                if let due = heap.next(dueAt: at(now)) {
                    #expect(model[due] == model.values.min(), "seed \(seed)")
                    #expect((model[due] ?? .max) <= now, "seed \(seed)")
                    model[due] = nil
                } else {
                    #expect((model.values.min() ?? .max) > now, "seed \(seed)")
                }
            }
            #expect(heap.count == model.count, "seed \(seed)")
            #expect(heap.earliest == model.values.min() ?? .max, "seed \(seed)")
            #expect(heap.contains(number) == (model[number] != nil), "seed \(seed)")
            #expect(heap.time(of: number) == model[number].map(at), "seed \(seed)")
        }
    }
}
