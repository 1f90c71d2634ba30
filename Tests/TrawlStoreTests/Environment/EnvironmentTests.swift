import Foundation
import Testing
import TrawlStore

@Suite("An LMDB environment")
struct EnvironmentTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func withEnvironment(
        _ settings: EnvironmentSettings = Sample.settings(), _ body: (Environment) throws -> Void
    ) throws {
        let environment = try Environment.open(directory: scratch.environment, settings: settings)
        defer { environment.close() }
        try body(environment)
    }

    @Test("what was written is read, also after it was closed and opened again")
    func roundTrip() throws {
        try withEnvironment { environment throws in
            #expect(try environment.get(1) == nil)
            try environment.put(1, [1, 2, 3])
            try environment.put(2, Array(repeating: 7, count: 100_000))
            #expect(try environment.get(1) == [1, 2, 3])
            #expect(try environment.get(2) == Array(repeating: 7, count: 100_000))
        }
        try withEnvironment { environment throws in
            #expect(try environment.get(1) == [1, 2, 3])
            #expect(try environment.get(2)?.count == 100_000)
            #expect(try environment.get(3) == nil)
        }
    }

    @Test("a value that is put twice in a transaction takes the pages it needs, however many the first took")
    func putTwice() throws {
        let sizes = [0, 10, 2000, 2031, 4080, 4081, 9000, 20_000]
        let pairs = sizes.flatMap { first in sizes.map { (first, $0) } }
        func bytes(_ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: $0) } }
        func pages(_ size: Int) -> UInt64 { size + 16 <= 2038 ? 0 : UInt64((15 + size) / 4096 + 1) }
        try withEnvironment { environment throws in
            try environment.write { transaction throws(StoreError) in
                for (index, (first, second)) in pairs.enumerated() {
                    let key = UInt64(index)
                    try transaction.put(Sample.numbers, key, bytes(first))
                    if index.isMultiple(of: 2) {
                        try transaction.put(Sample.numbers, key, bytes(second))
                    } else {
                        try transaction.put(Sample.numbers, key, count: second) { $0.copyBytes(from: bytes(second)) }
                    }
                }
            }
            let needed = pairs.reduce(0) { $0 + pages($1.1) }
            let taken = try environment.write { transaction throws(StoreError) in
                try transaction.statistics(Sample.numbers).overflowPages
            }
            #expect(taken == needed)
        }
        try withEnvironment { environment throws in
            for (index, (_, second)) in pairs.enumerated() {
                #expect(try environment.get(UInt64(index)) == bytes(second))
            }
            try environment.write { transaction throws(StoreError) in
                for index in pairs.indices { try transaction.delete(Sample.numbers, UInt64(index)) }
            }
        }
        try withEnvironment { environment throws in
            try environment.put(1, [1])
            #expect(try environment.get(1) == [1] && environment.get(2) == nil)
        }
    }

    @Test("a transaction that throws leaves nothing behind")
    func abandoned() throws {
        try withEnvironment { environment throws in
            #expect(throws: StoreError.abandoned) {
                try environment.write { transaction throws(StoreError) in
                    try transaction.put(Sample.numbers, 1, [1])
                    throw StoreError.abandoned
                }
            }
            #expect(try environment.get(1) == nil)
        }
    }

    @Test("a snapshot stays what it was while others write")
    func isolation() throws {
        try withEnvironment { environment throws in
            try environment.put(1, [1])
            var old: [[UInt8]?] = []
            try environment.read { snapshot throws(StoreError) in
                for round in 0..<50 {
                    try environment.write { transaction throws(StoreError) in
                        try transaction.put(Sample.numbers, 1, Array(repeating: UInt8(round), count: 3000))
                    }
                    old.append(try snapshot.get(Sample.numbers, 1).map { Array($0) })
                }
            }
            #expect(old == Array(repeating: [1], count: 50))
            #expect(try environment.get(1) == Array(repeating: 49, count: 3000))
        }
    }

    @Test("rows come in the order of their keys, from any key on, and from trees of several levels")
    func scanning() throws {
        try withEnvironment { environment throws in
            let count: UInt64 = 20_000
            try environment.write { transaction throws(StoreError) in
                for key in 0..<count { try transaction.put(Sample.numbers, key * 7919 % count * 3, [1, 2, 3, 4]) }
            }
            try environment.read { snapshot throws(StoreError) in
                for start: UInt64 in [0, 1, 2, 3, 29_999, 59_996, 59_997, 59_998] {
                    var keys: [UInt64] = []
                    try snapshot.scan(Sample.numbers, from: start) { key, value throws(StoreError) in
                        keys.append(key)
                        return value.count == 4
                    }
                    let expected = Array(stride(from: (start + 2) / 3 * 3, to: count * 3, by: 3))
                    #expect(keys == expected)
                }
                let last = try snapshot.last(Sample.numbers)?.key
                #expect(last == (count - 1) * 3)
                let statistics = try snapshot.statistics(Sample.numbers)
                #expect(statistics.rows == count)
                #expect(statistics.depth >= 2)
                var found = 0
                for key in 0..<count {
                    if try snapshot.get(Sample.numbers, key * 3)?.count == 4 { found += 1 }
                    if try snapshot.get(Sample.numbers, key * 3 + 1) != nil { found += 1 }
                }
                #expect(found == 20_000)
            }
        }
    }
}
