import TestSupport
import Testing
import TrawlFrontier
import TrawlHTTP

@Suite("Origin table")
struct OriginTableTests {
    private func origin(_ number: Int) -> Origin { Origin(scheme: "http", host: "host\(number).example", port: 80) }

    @Test("an origin has one number while it is in use, and others have others")
    func sameNumber() {
        var queues = HostQueues()
        var table = OriginTable(idleLimit: 0)
        let first = table.retain(origin(1))
        let second = table.retain(origin(2))
        #expect(first != second)
        #expect(table.retain(origin(1)) == first)
        table.release(first, of: &queues)
        #expect(table[first] == origin(1))
        table.release(first, of: &queues)
        #expect(table[first] == nil)
        #expect(table[second] == origin(2))
        #expect(table[.max] == nil)
    }

    @Test("a number out of use is kept until newer ones push it out")
    func idle() {
        var queues = HostQueues()
        var table = OriginTable(idleLimit: 2)
        let numbers = (0..<3).map { table.retain(origin($0)) }
        table.release(numbers[0], of: &queues)
        table.release(numbers[1], of: &queues)
        #expect(table.retain(origin(0)) == numbers[0])
        table.release(numbers[0], of: &queues)
        table.release(numbers[2], of: &queues)
        #expect(table[numbers[1]] == nil)
        #expect(table[numbers[0]] == origin(0))
        #expect(table.retain(origin(3)) == numbers[1])
    }

    @Test("a number that was given up is not taken for that of the origin it had")
    func givenUp() {
        var queues = HostQueues()
        var table = OriginTable(idleLimit: 0)
        var expected: [Origin: UInt32] = [:]
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            // More than are remembered at a time, and some that differ in scheme or port alone.
            let number = Int(random.next() % 400)
            let origin = Origin(
                scheme: number % 3 == 0 ? "https" : "http", host: "host\(number / 4).example", port: UInt16(number % 4))
            if let held = expected.removeValue(forKey: origin) {
                #expect(table[held] == origin)
                table.release(held, of: &queues)
                #expect(table[held] == nil)
            } else {
                let held = table.retain(origin)
                #expect(!expected.values.contains(held))
                expected[origin] = held
            }
        }
        #expect(table.count == expected.count)
    }

    @Test("memory does not grow with the origins ever seen")
    func flat() {
        var queues = HostQueues()
        var table = OriginTable(idleLimit: 16)
        var largest: UInt32 = 0
        for number in 0..<20_000 {
            let key = table.retain(origin(number))
            largest = max(largest, key)
            table.release(key, of: &queues)
        }
        #expect(table.count == 16)
        #expect(largest <= 16)
    }

    @Test("random use agrees with counts kept apart", arguments: 0..<20 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queues = HostQueues()
        var table = OriginTable(idleLimit: 3)
        var uses: [Int: (number: UInt32, count: Int)] = [:]
        for _ in 0..<1000 {
            let name = Int.random(in: 0..<12, using: &random)
            if random.once(in: 2) {
                let number = table.retain(origin(name))
                if let known = uses[name] { #expect(known.number == number, "seed \(seed)") }
                uses[name] = (number, (uses[name]?.count ?? 0) + 1)
            } else if let known = uses[name] {
                table.release(known.number, of: &queues)
                uses[name] = known.count == 1 ? nil : (known.number, known.count - 1)
            }
            #expect(Set(uses.values.map(\.number)).count == uses.count, "seed \(seed)")
            for (name, use) in uses { #expect(table[use.number] == origin(name), "seed \(seed)") }
            #expect(table.count <= uses.count + 3, "seed \(seed)")
        }
    }
}
