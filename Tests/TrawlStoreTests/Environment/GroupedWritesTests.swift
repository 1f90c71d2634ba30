import Foundation
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("Grouped writes")
struct GroupedWritesTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func withWrites(
        _ limits: GroupedWrites.Limits = .init(), _ body: (Environment, GroupedWrites) throws -> Void
    ) throws {
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        let writes = try GroupedWrites.start(environment, limits: limits)
        defer { writes.stop() }
        try body(environment, writes)
    }

    /// Keeps the store thread busy until `open` is called.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let entered = DispatchSemaphore(value: 0)

        func close(_ writes: GroupedWrites) {
            _ = writes.submit(.now) { _ throws(StoreError) in
            } completion: { [entered, semaphore] _ in
                entered.signal()
                semaphore.wait()
            }
            entered.wait()
        }

        func open() { semaphore.signal() }
    }

    private final class Outcomes: Sendable {
        private let values = Guarded<[Int: Result<Void, StoreError>]>([:])

        func set(_ index: Int, _ result: Result<Void, StoreError>) {
            values.withLock { values in
                #expect(values[index] == nil, "told twice")
                values[index] = result
            }
        }

        var succeeded: [Int] { values.withLock { $0.filter { (try? $0.value.get()) != nil }.keys.sorted() } }
        var count: Int { values.withLock { $0.count } }
    }

    @Test("what surrounds a group runs in its transaction, and again when that runs again")
    func frame() throws {
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        let sum = Guarded<UInt8>(0)
        let runs = Guarded<Int>(0)
        let frame = GroupedWrites.Frame {
            sum.withLock { $0 = 0 }
            runs.withLock { $0 += 1 }
        } end: { transaction throws(StoreError) in
            try transaction.put(Sample.numbers, 1000, [sum.withLock { $0 }])
        }
        let writes = try GroupedWrites.start(environment, frame: frame)
        defer { writes.stop() }
        let gate = Gate()
        gate.close(writes)
        let outcomes = Outcomes()
        for index in 0..<10 {
            _ = writes.submit(.soon) { _ throws(StoreError) in
                if index == 7 { throw .abandoned }
                sum.withLock { $0 += UInt8(index) }
            } completion: { result in
                outcomes.set(index, result)
            }
        }
        gate.open()
        writes.flush()
        #expect(outcomes.succeeded == [0, 1, 2, 3, 4, 5, 6, 8, 9])
        #expect(try environment.get(1000) == [38])
        #expect(runs.withLock { $0 } == 3)
    }

    @Test("what waits is committed together, and each is told after the commit")
    func together() throws {
        try withWrites { environment, writes throws in
            try environment.put(1000, [1])
            let gate = Gate()
            gate.close(writes)
            let before = try environment.information().lastTransaction
            let outcomes = Outcomes()
            for index in 0..<64 {
                let accepted = writes.submit(.soon) { transaction throws(StoreError) in
                    try transaction.put(Sample.numbers, UInt64(index), [UInt8(index)])
                } completion: { result in
                    outcomes.set(index, result)
                    let isThere = (try? environment.get(UInt64(index))) == [UInt8(index)]
                    #expect(isThere)
                }
                #expect(accepted == .accepted(waiting: index + 1))
            }
            gate.open()
            writes.flush()
            #expect(outcomes.succeeded == Array(0..<64))
            #expect(try environment.information().lastTransaction == before + 1)
        }
    }

    @Test("one that fails spoils none of its group")
    func failing() throws {
        try withWrites { environment, writes throws in
            let gate = Gate()
            gate.close(writes)
            let outcomes = Outcomes()
            for index in 0..<20 {
                _ = writes.submit(.soon) { transaction throws(StoreError) in
                    try transaction.put(Sample.numbers, UInt64(index), [UInt8(index)])
                    if index % 7 == 3 { throw .abandoned }
                } completion: {
                    outcomes.set(index, $0)
                }
            }
            gate.open()
            writes.flush()
            let good = (0..<20).filter { $0 % 7 != 3 }
            #expect(outcomes.count == 20)
            #expect(outcomes.succeeded == good)
            for index in 0..<20 {
                #expect(try environment.get(UInt64(index)) == (index % 7 == 3 ? nil : [UInt8(index)]))
            }
        }
    }

    @Test("what insists is accepted where others are refused, up to a bound of its own")
    func insisting() throws {
        var limits = GroupedWrites.Limits()
        limits.waiting = 4
        limits.insisting = 6
        try withWrites(limits) { _, writes throws in
            let gate = Gate()
            gate.close(writes)
            let outcomes = Outcomes()
            var accepted: [Int] = []
            for index in 0..<8 {
                let answer = writes.submit(.soon, insists: index != 4) { transaction throws(StoreError) in
                    try transaction.put(Sample.numbers, UInt64(index), [UInt8(index)])
                } completion: { result in
                    outcomes.set(index, result)
                }
                if answer != .full { accepted.append(index) }
            }
            #expect(accepted == [0, 1, 2, 3, 5, 6])
            gate.open()
            writes.flush()
            #expect(outcomes.succeeded == accepted)
        }
    }

    @Test("more than may wait is refused, and all that was accepted is done before the end")
    func bounded() throws {
        var limits = GroupedWrites.Limits()
        limits.waiting = 10
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        let writes = try GroupedWrites.start(environment, limits: limits)
        let gate = Gate()
        gate.close(writes)
        let outcomes = Outcomes()
        var accepted = 0
        for index in 0..<12 {
            let answer = writes.submit(.soon) { transaction throws(StoreError) in
                try transaction.put(Sample.numbers, UInt64(index), [1])
            } completion: {
                outcomes.set(index, $0)
            }
            if answer != .full { accepted += 1 }
        }
        #expect(accepted == 10)
        gate.open()
        writes.stop()
        #expect(outcomes.succeeded == Array(0..<10))
        #expect(writes.submit(.now, { _ throws(StoreError) in }, completion: { _ in }) == .stopped)
    }

    @Test("when enough wait they are committed at once, together")
    func enough() throws {
        var limits = GroupedWrites.Limits()
        limits.delay = .seconds(3600)
        try withWrites(limits) { environment, writes throws in
            try environment.put(1000, [1])
            for turn in 1...2 as ClosedRange<UInt64> {
                let before = try environment.information().lastTransaction
                let done = DispatchSemaphore(value: 0)
                for index in 0..<5 as Range<UInt64> {
                    let write = ClosureWrite { transaction throws(StoreError) in
                        try transaction.put(Sample.numbers, 10 * turn + index, [1])
                    } completion: { _ in
                        done.signal()
                    }
                    let accepted = writes.submit(.soon, insists: false, enough: 5, write)
                    #expect(accepted == .accepted(waiting: Int(index) + 1))
                }
                for _ in 0..<5 { #expect(done.wait(timeout: .now() + 60) == .success) }
                #expect(try environment.information().lastTransaction == before + 1)
            }
        }
    }

    @Test("one that waits alone is committed after the delay, and at once when it is urgent")
    func delays() throws {
        try withWrites { environment, writes throws in
            // The second one comes while the thread looks after it on its own.
            for urgency: GroupedWrites.Urgency in [.soon, .soon, .now] {
                let done = DispatchSemaphore(value: 0)
                _ = writes.submit(urgency) { transaction throws(StoreError) in
                    try transaction.put(Sample.numbers, 1, [1])
                } completion: { _ in
                    done.signal()
                }
                #expect(done.wait(timeout: .now() + 60) == .success)
            }
            #expect(try environment.get(1) == [1])
        }
    }

    @Test("writes of many threads all arrive")
    func manyThreads() throws {
        try withWrites { environment, writes throws in
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                for index in 0..<200 {
                    let key = UInt64(thread * 1000 + index)
                    while writes.submit(
                        index % 2 == 0 ? .soon : .now,
                        { transaction throws(StoreError) in
                            try transaction.put(Sample.numbers, key, [UInt8(thread)])
                        }, completion: { _ in }) == .full
                    {}
                }
            }
            writes.flush()
            let rows = try environment.read { snapshot throws(StoreError) in
                try snapshot.statistics(Sample.numbers).rows
            }
            #expect(rows == 1600)
        }
    }
}
