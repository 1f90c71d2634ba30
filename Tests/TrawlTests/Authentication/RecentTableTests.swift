import TestSupport
import Testing

@testable import Trawl

@Suite("Tables of bounded size")
struct RecentTableTests {
    @Test("what was used longest ago makes room")
    func order() {
        var table = RecentTable<Int, String>(limit: 3)
        for number in 1...3 { table.set("\(number)", for: number, size: 1) }
        #expect(table.use(1) == "1")
        // A look is no use.
        #expect(table[2] == "2")
        table.set("4", for: 4, size: 1)
        #expect(table[2] == nil && table.count == 3)
        table.set("3+", for: 3, size: 2)
        #expect(Set(table.values) == ["3+", "4"] && table.size == 3)
        #expect(table.remove(4) == "4" && table.remove(4) == nil && table.use(4) == nil)
        // One that is too large is alone.
        table.set("5", for: 5, size: 100)
        #expect(table.values == ["5"] && table.size == 100)
        table.set("6", for: 6, size: 1)
        #expect(table.values == ["6"] && table.size == 1)
        table.removeAll()
        #expect(table.isEmpty && table.size == 0)
    }

    @Test("in any order of uses it holds what was used last", arguments: 0..<10)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = RecentTable<Int, Int>(limit: 50)
        // The key used last at the end.
        var order: [(key: Int, size: Int)] = []
        for step in 0..<5_000 {
            let key = Int.random(in: 0..<40, using: &generator)
            switch generator.next() % 4 {
            case 0:
                let size = Int.random(in: 1...8, using: &generator)
                table.set(step, for: key, size: size)
                order.removeAll { $0.key == key }
                order.append((key, size))
                while order.reduce(0, { $0 + $1.size }) > 50 { order.removeFirst() }
            case 1:
                let isThere = table.remove(key) != nil
                #expect(isThere == order.contains { $0.key == key }, "seed \(seed) step \(step)")
                order.removeAll { $0.key == key }
            default:
                let isThere = table.use(key) != nil
                #expect(isThere == order.contains { $0.key == key }, "seed \(seed) step \(step)")
                if let place = order.firstIndex(where: { $0.key == key }) { order.append(order.remove(at: place)) }
            }
            #expect(table.count == order.count && table.size == order.reduce(0) { $0 + $1.size }, "seed \(seed)")
        }
        #expect(order.allSatisfy { table[$0.key] != nil }, "seed \(seed)")
    }
}
