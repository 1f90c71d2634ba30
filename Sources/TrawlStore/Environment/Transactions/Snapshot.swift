/// What was committed when a read began. It does not change, and costs others nothing but the pages it keeps.
///
/// Bytes it returns are valid inside the closure that was given the snapshot, and nowhere else. Everything is checked
/// on the way: in a damaged file a look-up throws `StoreError.damaged`, and never reads outside of it.
package struct Snapshot: ~Copyable {
    private let slot: UnsafeMutablePointer<ReaderSlot>
    private let opening: Unmanaged<Opening>

    @inline(__always)
    init(_ slot: UnsafeMutablePointer<ReaderSlot>, _ opening: Unmanaged<Opening>) {
        self.slot = slot
        self.opening = opening
    }

    /// The same snapshot, for a value that lives inside the closure and cannot borrow.
    struct Handle {
        fileprivate let slot: UnsafeMutablePointer<ReaderSlot>
        fileprivate let opening: Unmanaged<Opening>

        var snapshot: Snapshot { Snapshot(slot, opening) }
    }

    var handle: Handle { Handle(slot: slot, opening: opening) }

    @inline(__always)
    private var tree: PageTree { PageTree(base: slot.pointee.base, count: slot.pointee.pages) }

    /// The number of the last transaction it holds.
    package var identifier: UInt64 { slot.pointee.snapshot }

    /// The value of a key.
    @inline(__always)
    package func get(_ table: Table, _ key: UInt64) throws(StoreError) -> UnsafeRawBufferPointer? {
        precondition(table.keys == .integers, "a table has one kind of keys")
        return try get(table, IntegerKey(value: key))
    }

    /// The value of a key.
    @inline(__always)
    package func get(_ table: Table, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
        precondition(table.keys == .bytes, "a table has one kind of keys")
        return try get(table, BytesKey(bytes: key))
    }

    private func get<Key: TreeKey>(_ table: Table, _ key: Key) throws(StoreError) -> UnsafeRawBufferPointer? {
        do throws(Damage) {
            let record = try record(table)
            guard let found = try tree.find(key, in: record) else { return nil }
            return try tree.value(of: found.node, on: found.page)
        } catch {
            throw damaged(error)
        }
    }

    /// Visits rows in order from the first that is not before `start`, until `body` says no.
    package func scan(
        _ table: Table, from start: UInt64 = 0,
        _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        precondition(table.keys == .integers, "a table has one kind of keys")
        let record: TreeRecord
        do throws(Damage) { record = try self.record(table) } catch { throw damaged(error) }
        _ = try tree.scan(record, from: IntegerKey(value: start), failure: { damaged($0) }) {
            node, value throws(StoreError) in
            try body(node.key.loadUnaligned(as: UInt64.self), value)
        }
    }

    /// Visits rows in order from the first that is not before `start`, until `body` says no.
    package func scan(
        _ table: Table, from start: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        precondition(table.keys == .bytes, "a table has one kind of keys")
        let record: TreeRecord
        do throws(Damage) { record = try self.record(table) } catch { throw damaged(error) }
        _ = try tree.scan(record, from: BytesKey(bytes: start), failure: { damaged($0) }) {
            node, value throws(StoreError) in
            try body(UnsafeRawBufferPointer(start: node.key, count: node.keySize), value)
        }
    }

    /// The row with the greatest key.
    package func last(_ table: Table) throws(StoreError) -> (key: UInt64, value: UnsafeRawBufferPointer)? {
        precondition(table.keys == .integers, "a table has one kind of keys")
        do throws(Damage) {
            guard let found = try tree.last(try record(table)) else { return nil }
            guard found.node.keySize == 8 else { throw Damage(kind: .key, page: found.page) }
            return (found.node.key.loadUnaligned(as: UInt64.self), try tree.value(of: found.node, on: found.page))
        } catch {
            throw damaged(error)
        }
    }

    /// The size of a table.
    package func statistics(_ table: Table) throws(StoreError) -> TableStatistics {
        do throws(Damage) { return try record(table).statistics } catch { throw damaged(error) }
    }

    /// The pages of all tables.
    package var usedPages: UInt64 {
        get throws(StoreError) {
            var pages: UInt64 = 0
            for table in opening._withUnsafeGuaranteedRef({ $0.settings.tables }) {
                pages &+= try statistics(table).pages
            }
            return pages
        }
    }

    @inline(__always)
    private func record(_ table: Table) throws(Damage) -> TreeRecord {
        let index = table.index
        if let known = slot.pointee.tables[index] { return known }
        guard let record = try tree.table(table, in: slot.pointee.main) else {
            throw Damage(kind: .table, page: slot.pointee.main.root)
        }
        slot.pointee.tables[index] = record
        return record
    }

    private func damaged(_ damage: Damage) -> StoreError {
        opening._withUnsafeGuaranteedRef { opening in
            opening.setSuspect(true)
            return opening.damaged(damage)
        }
    }
}
