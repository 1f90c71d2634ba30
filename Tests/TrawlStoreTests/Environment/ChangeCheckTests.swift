import Foundation
import Testing
import TrawlStore

@Suite("Pages that change behind a process that writes")
struct ChangeCheckTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// Changes the file under an environment that has checked it, and writes: the damage is seen, and the files made
    /// anew.
    private func expectSeen(
        sourceLocation: SourceLocation = #_sourceLocation, _ damage: (inout Data) throws -> Void,
        _ write: (borrowing Transaction) throws(StoreError) -> Void
    ) throws {
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        for round in 0..<8 {
            try environment.write { transaction throws(StoreError) in
                for key in 0..<400 as Range<UInt64> where (key + UInt64(round)) % 3 != 0 {
                    try transaction.put(Sample.numbers, key, count: 100) { place in
                        for index in place.indices { place[index] = UInt8(round) }
                    }
                }
            }
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: scratch.data))
        var after = before
        try damage(&after)
        let file = open(scratch.data, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        for offset in before.indices where before[offset] != after[offset] {
            var byte = after[offset]
            #expect(pwrite(file, &byte, 1, off_t(offset)) == 1, sourceLocation: sourceLocation)
        }
        let generation = environment.generation
        try environment.write(write)
        #expect(environment.generation == generation + 1, sourceLocation: sourceLocation)
        try environment.put(1, [1])
        #expect(try environment.get(1) == [1], sourceLocation: sourceLocation)
    }

    @Test("a list of free pages that says it is longer than its row is seen before anything is taken from it")
    func freeListLength() throws {
        try expectSeen { data in
            let list = data.freeLists()
            data[list + 3] = 0x40
        } _: { transaction throws(StoreError) in
            try transaction.put(Sample.numbers, 1, [2])
        }
    }

    @Test("a free page that is in use is seen before it is written over")
    func freePageInUse() throws {
        try expectSeen { data in
            // The root of the tree of tables, in the place where the falling list has it.
            let list = data.freeLists()
            let root = data.word(data.latestMeta() + 128)
            var place = 1
            while place < Int(data.word(list)), data.word(list + 8 * place) > root { place += 1 }
            data.setWord(list + 8 * place, root)
        } _: { transaction throws(StoreError) in
            // What was read before it is known which pages are free is compared too.
            _ = try transaction.get(Sample.numbers, 1)
            try transaction.put(Sample.numbers, 1, [2])
        }
    }

    @Test("damage in the page that a page made empty is merged with is seen")
    func neighbour() throws {
        try expectSeen { data in
            // Rows of the second leaf say that they are longer than the page.
            let leaf = Int(data.leaves()[1]) * 4096
            for index in 1..<8 {
                let row = leaf + Int(data[leaf + 16 + 2 * index]) + Int(data[leaf + 17 + 2 * index]) << 8
                data[row + 1] ^= 0x80
            }
        } _: { transaction throws(StoreError) in
            // Few enough are left of the first.
            for key in 0..<30 as Range<UInt64> { try transaction.delete(Sample.numbers, key) }
        }
    }

    @Test("a table that has lost its name is seen, and nothing is written nowhere")
    func tableName() throws {
        try expectSeen { data in
            let leaf = Int(data.word(data.latestMeta() + 128)) * 4096
            let name = try #require(data.range(of: Data("numbers".utf8), in: leaf..<leaf + 4096))
            data[name.lowerBound + 6] ^= 1
        } _: { transaction throws(StoreError) in
            try transaction.put(Sample.numbers, 1, [2])
        }
    }

    @Test("damage in a page of branches that is divided for its long keys is seen")
    func longKeys() throws {
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        var number = 0
        var before = Data()
        // Until there is room for a digest, and none for one more of these.
        repeat {
            try environment.write { transaction throws(StoreError) in try transaction.putLong(number) }
            number += 1
            before = try Data(contentsOf: URL(fileURLWithPath: scratch.data))
        } while number < 100 && !(before.branchRoom(of: "names").map { (74..<210).contains($0) } ?? false)
        let root = try #require(before.root(of: "names"))
        let child = root + Int(before[root + 16 + 2 * 5]) + Int(before[root + 17 + 2 * 5]) << 8
        // Its number is outside of the file now. The way to the last row does not touch it.
        var byte = before[child + 4] ^ 1
        let file = open(scratch.data, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(pwrite(file, &byte, 1, off_t(child + 4)) == 1)
        let generation = environment.generation
        try environment.write { transaction throws(StoreError) in try transaction.putLong(number) }
        #expect(environment.generation == generation + 1)
    }

    @Test("rows that come and go in great numbers are no damage")
    func churn() throws {
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        for round in 0..<40 as Range<UInt64> {
            try environment.write { transaction throws(StoreError) in
                for key in round * 50..<round * 50 + 300 { try transaction.put(Sample.numbers, key, [UInt8(round)]) }
                for key in 0..<round * 40 { try transaction.delete(Sample.numbers, key) }
                for key in round * 40..<round * 40 + 60 where key % 3 != 0 {
                    try transaction.delete(Sample.numbers, key)
                }
                if round % 8 == 7 { try transaction.clear(Sample.names) }
                try transaction.put(Sample.names, UInt64(round))
            }
        }
        #expect(environment.generation == 1)
    }
}

extension Transaction {
    fileprivate func put(_ table: Table, _ number: UInt64) throws(StoreError) {
        var number = number
        try withUnsafeBytes(of: &number) { bytes throws(StoreError) in try put(table, bytes, bytes) }
    }

    /// A row with a key of 200 bytes, so long that a page has room for two.
    fileprivate func putLong(_ number: Int) throws(StoreError) {
        var key = [UInt8](repeating: 97, count: 200)
        key[0] = UInt8(number)
        let value = [UInt8](repeating: 98, count: 1700)
        try key.span.withUnsafeBytes { (key) throws(StoreError) in
            try value.span.withUnsafeBytes { (value) throws(StoreError) in try put(Sample.names, key, value) }
        }
    }
}

/// Finds places in a data file of LMDB; docs/storage.md names what describes them.
extension Data {
    func word(_ offset: Int) -> UInt64 {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    mutating func setWord(_ offset: Int, _ value: UInt64) {
        withUnsafeMutableBytes { $0.storeBytes(of: value, toByteOffset: offset, as: UInt64.self) }
    }

    /// Where the meta page of the last transaction is.
    func latestMeta() -> Int { word(144) > word(4096 + 144) ? 0 : 4096 }

    /// Where the first list of free pages is, when the tree of them is a leaf and the list in it.
    func freeLists() -> Int {
        let leaf = Int(word(latestMeta() + 80)) * 4096
        return leaf + Int(self[leaf + 16]) + Int(self[leaf + 17]) << 8 + 16
    }

    /// Where the root of a table is.
    fileprivate func root(of table: String) -> Int? {
        let tables = Int(word(latestMeta() + 128)) * 4096
        return range(of: Data(table.utf8), in: tables..<tables + 4096).map { Int(word($0.upperBound + 40)) * 4096 }
    }

    /// The bytes that nothing has in the root of a table; nil when that is no branch.
    fileprivate func branchRoom(of table: String) -> Int? {
        guard let root = root(of: table), self[root + 10] == 1 else { return nil }
        return (Int(self[root + 14]) + Int(self[root + 15]) << 8) - (Int(self[root + 12]) + Int(self[root + 13]) << 8)
    }

    /// The leaves of the table of numbers, whose root is a branch.
    fileprivate func leaves() -> [UInt64] {
        guard let root = root(of: "numbers") else { return [] }
        let count = (Int(self[root + 12]) + Int(self[root + 13]) << 8 - 16) / 2
        return (0..<count).map { index in
            let row = root + Int(self[root + 16 + 2 * index]) + Int(self[root + 17 + 2 * index]) << 8
            return word(row) & 0xFFFF_FFFF_FFFF
        }
    }
}
