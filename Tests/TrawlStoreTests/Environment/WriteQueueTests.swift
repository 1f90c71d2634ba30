import Testing

@testable import TrawlStore

@Suite("Writes that wait for a transaction")
struct WriteQueueTests {
    /// A write that is known by its number.
    private final class Numbered: GroupedWrite {
        let number: Int

        init(_ number: Int) { self.number = number }

        func run(in transaction: borrowing Transaction) throws(StoreError) {}
        func ended(_ failure: StoreError?) {}
    }

    private func item(_ number: Int, insists: Bool) -> WriteQueue.Item {
        WriteQueue.Item(insists: insists, write: Numbered(number))
    }

    private func numbers(_ items: [WriteQueue.Item]) -> [Int] {
        items.map { ($0.write as? Numbered)?.number ?? -1 }
    }

    @Test("groups are as long as they may be, in the order in which their writes came")
    func order() {
        var queue = WriteQueue()
        for number in 0..<5 { queue.append(item(number, insists: number % 2 == 0)) }
        let first = queue.take(2)
        #expect(numbers(first) == [0, 1])
        #expect(queue.count == 3 && queue.newCount == 3)
        let second = queue.take(3)
        #expect(numbers(second) == [2, 3, 4] && queue.isEmpty)
        let none = queue.take(2)
        #expect(none.isEmpty)
    }

    @Test("behind another process those that insist come first again, and all others are over, those that failed too")
    func putBack() {
        var queue = WriteQueue()
        for number in 0..<7 { queue.append(item(number, insists: number % 3 != 2)) }
        let group = queue.take(4)
        var failures: [StoreError?] = [nil, .full, nil, nil]
        let over = queue.putBack(group, &failures, keeps: true)
        #expect(numbers(over) == [1, 2, 5])
        #expect(failures == [.full, nil, nil])
        #expect(queue.hasKept && queue.newCount == 0 && queue.count == 4)
        queue.append(item(7, insists: false))
        #expect(queue.newCount == 1)
        // From both of them.
        let next = queue.take(2)
        #expect(numbers(next) == [0, 3])
        failures = [nil, nil]
        let late = queue.putBack(next, &failures, keeps: true)
        #expect(numbers(late) == [7] && failures == [nil])
        queue.append(item(8, insists: true))
        let all = queue.take(5)
        #expect(numbers(all) == [0, 3, 4, 6, 8])
    }

    @Test("nothing is kept at the end")
    func end() {
        var queue = WriteQueue()
        for number in 0..<4 { queue.append(item(number, insists: true)) }
        var failures: [StoreError?] = [nil, nil]
        let kept = queue.putBack(queue.take(2), &failures, keeps: true)
        #expect(kept.isEmpty)
        queue.append(item(4, insists: true))
        failures = [nil]
        let over = queue.putBack(queue.take(1), &failures, keeps: false)
        #expect(numbers(over) == [0, 1, 2, 3, 4])
        #expect(failures.count == 5 && queue.isEmpty && !queue.hasKept)
    }
}
