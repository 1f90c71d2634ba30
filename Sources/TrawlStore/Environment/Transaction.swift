import CLMDB
import Glibc

/// A write transaction: sees its own changes, and is the only one of all processes while it runs.
///
/// Bytes it returns are valid until the next change in the same transaction. After an error that is not about a single
/// key the transaction comes to nothing, whatever its closure does.
package struct Transaction: ~Copyable {
    private final class State {
        var failure: StoreError?
        var wantsSync = false
        /// LMDB left the transaction in the middle; nobody may touch it again.
        var isLost = false
    }

    private let handle: OpaquePointer
    private let opening: Opening
    /// What was committed before; LMDB changes copies of these pages.
    private let before: (tree: PageTree, main: TreeRecord)?
    private let state = State()

    /// Wraps a transaction of LMDB, which stays the caller's to end.
    init(_ handle: OpaquePointer, opening: Opening, before: (tree: PageTree, main: TreeRecord)? = nil) {
        self.handle = handle
        self.opening = opening
        self.before = before
    }

    /// What ended the transaction.
    var failure: StoreError? { state.failure }
    var isLost: Bool { state.isLost }
    var wantsSync: Bool { state.wantsSync }

    /// Its number; one more than that of the snapshot it began with.
    package var identifier: UInt64 { UInt64(mdb_txn_id(handle)) }

    /// Asks that this commit be on disk within a second, where the environment syncs in groups.
    package func requestSync() { state.wantsSync = true }

    // MARK: Reading

    /// The value of a key.
    package func get(_ table: Table, _ key: UInt64) throws(StoreError) -> UnsafeRawBufferPointer? {
        try withKey(key) { bytes throws(StoreError) in try rawGet(number(table, .integers), bytes) }
    }

    /// The value of a key.
    package func get(_ table: Table, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
        try rawGet(number(table, .bytes), key)
    }

    /// Visits rows in order from the first that is not before `start`, until `body` says no. The body changes nothing.
    package func scan(
        _ table: Table, from start: UInt64 = 0,
        _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try withKey(start) { start throws(StoreError) in
            try rawScan(number(table, .integers), from: start) { key, value throws(StoreError) in
                try body(key.loadUnaligned(as: UInt64.self), value)
            }
        }
    }

    /// Visits rows in order from the first that is not before `start`, until `body` says no. The body changes nothing.
    package func scan(
        _ table: Table, from start: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try rawScan(number(table, .bytes), from: start, body)
    }

    /// The row with the greatest key.
    package func last(_ table: Table) throws(StoreError) -> (key: UInt64, value: UnsafeRawBufferPointer)? {
        try withCursor(number(table, .integers)) { cursor throws(StoreError) in
            var key = MDB_val()
            var value = MDB_val()
            let code = clmdb_cursor_get(cursor, &key, &value, MDB_LAST)
            if code == MDB_NOTFOUND { return nil }
            try succeed(code, "mdb_cursor_get")
            guard key.mv_size == 8 else { throw fail(.damaged(path: opening.dataPath, detail: "a key has no 8 bytes")) }
            return (bytes(key).loadUnaligned(as: UInt64.self), bytes(value))
        }
    }

    /// The size of a table with the changes so far.
    package func statistics(_ table: Table) throws(StoreError) -> TableStatistics {
        var found = MDB_stat()
        try succeed(mdb_stat(handle, opening.tables[table.index], &found), "mdb_stat")
        return TableStatistics(
            rows: UInt64(found.ms_entries), branchPages: UInt64(found.ms_branch_pages),
            leafPages: UInt64(found.ms_leaf_pages), overflowPages: UInt64(found.ms_overflow_pages),
            depth: Int(found.ms_depth))
    }

    /// The pages of all tables, with the changes so far.
    package var usedPages: UInt64 {
        get throws(StoreError) {
            var pages: UInt64 = 0
            for table in opening.settings.tables { pages += try statistics(table).pages }
            return pages
        }
    }

    // MARK: Writing

    /// Sets the value of a key.
    package func put(_ table: Table, _ key: UInt64, _ value: UnsafeRawBufferPointer) throws(StoreError) {
        try check(table, IntegerKey(value: key))
        try withKey(key) { key throws(StoreError) in try rawPut(number(table, .integers), key, value, 0) }
    }

    /// Sets the value of a key.
    package func put(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StoreError) {
        try check(table, BytesKey(bytes: key))
        try rawPut(number(table, .bytes), key, value, 0)
    }

    /// Sets the value of a key by filling it in place. `fill` writes all of it.
    package func put(
        _ table: Table, _ key: UInt64, count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
        try check(table, IntegerKey(value: key))
        try withKey(key) { key throws(StoreError) in
            try rawReserve(number(table, .integers), key, count, MDB_RESERVE, fill)
        }
    }

    /// Adds a row whose key is above all others of the table.
    package func append(_ table: Table, _ key: UInt64, _ value: UnsafeRawBufferPointer) throws(StoreError) {
        try checkEnd(table)
        try withKey(key) { key throws(StoreError) in try rawPut(number(table, .integers), key, value, MDB_APPEND) }
    }

    /// Adds a row whose key is above all others of the table, by filling it in place. `fill` writes all of it.
    package func append(
        _ table: Table, _ key: UInt64, count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
        try checkEnd(table)
        try withKey(key) { key throws(StoreError) in
            try rawReserve(number(table, .integers), key, count, MDB_RESERVE | MDB_APPEND, fill)
        }
    }

    /// Deletes a row.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package func delete(_ table: Table, _ key: UInt64) throws(StoreError) -> Bool {
        try check(table, IntegerKey(value: key))
        return try withKey(key) { key throws(StoreError) in try rawDelete(number(table, .integers), key) }
    }

    /// Deletes a row.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package func delete(_ table: Table, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        try check(table, BytesKey(bytes: key))
        return try rawDelete(number(table, .bytes), key)
    }

    /// Deletes rows from `start` on, below `end`.
    ///
    /// - Parameter limit: The most rows to delete.
    /// - Returns: How many there were.
    @discardableResult
    package func delete(
        _ table: Table, from start: UInt64, to end: UInt64, limit: Int = .max
    ) throws(StoreError) -> Int {
        try withKey(start) { start throws(StoreError) in
            try withCursor(number(table, .integers)) { cursor throws(StoreError) in
                var key = value(start)
                var found = MDB_val()
                var count = 0
                var code = clmdb_cursor_get(cursor, &key, &found, MDB_SET_RANGE)
                while code == 0, count < limit {
                    let present = bytes(key).loadUnaligned(as: UInt64.self)
                    if present >= end { break }
                    try check(table, IntegerKey(value: present))
                    try succeed(clmdb_cursor_delete(cursor), "mdb_cursor_del")
                    count += 1
                    // After a deletion the cursor stands on the row that follows, if there is one on the page.
                    code = clmdb_cursor_get(cursor, &key, &found, MDB_NEXT)
                }
                if code != 0, code != MDB_NOTFOUND { try succeed(code, "mdb_cursor_get") }
                return count
            }
        }
    }

    /// Deletes all rows of a table.
    package func clear(_ table: Table) throws(StoreError) {
        if let before {
            do throws(Damage) {
                if let record = try before.tree.table(table, in: before.main) {
                    // LMDB takes the length of each run of pages from the run.
                    switch table.keys {
                    case .integers: _ = try before.tree.scan(record, from: IntegerKey?.none, failure: { $0 }, everyRow)
                    case .bytes: _ = try before.tree.scan(record, from: BytesKey?.none, failure: { $0 }, everyRow)
                    }
                }
            } catch {
                throw fail(opening.damaged(error))
            }
        }
        try succeed(clmdb_drop(handle, opening.tables[table.index]), "mdb_drop")
    }

    // MARK: Beneath

    /// LMDB's number of the table that holds the format.
    var formatTable: MDB_dbi { opening.tables[opening.settings.tables.count] }

    func rawGet(_ table: MDB_dbi, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
        var key = value(key)
        var found = MDB_val()
        let code = clmdb_get(handle, table, &key, &found)
        if code == MDB_NOTFOUND { return nil }
        try succeed(code, "mdb_get")
        return bytes(found)
    }

    func rawPut(
        _ table: MDB_dbi, _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ flags: Int32
    ) throws(StoreError) {
        var key = value(key)
        var stored = value(bytes)
        try added(clmdb_put(handle, table, &key, &stored, UInt32(flags)))
    }

    private func rawReserve(
        _ table: MDB_dbi, _ key: UnsafeRawBufferPointer, _ count: Int, _ flags: Int32,
        _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
        var key = value(key)
        var place = MDB_val(mv_size: count, mv_data: nil)
        try added(clmdb_put(handle, table, &key, &place, UInt32(flags)))
        fill(UnsafeMutableRawBufferPointer(start: place.mv_data, count: place.mv_size))
    }

    /// A key out of order is the caller's mistake; the transaction lives on.
    private func added(_ code: Int32) throws(StoreError) {
        if code == MDB_KEYEXIST { throw .unfit("an appended key is above all others") }
        try succeed(code, "mdb_put")
    }

    private func rawDelete(_ table: MDB_dbi, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        var key = value(key)
        let code = clmdb_delete(handle, table, &key)
        if code == MDB_NOTFOUND { return false }
        try succeed(code, "mdb_del")
        return true
    }

    private func rawScan(
        _ table: MDB_dbi, from start: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try withCursor(table) { cursor throws(StoreError) in
            var key = value(start)
            var found = MDB_val()
            var code = clmdb_cursor_get(cursor, &key, &found, start.isEmpty ? MDB_FIRST : MDB_SET_RANGE)
            while code == 0 {
                guard try body(bytes(key), bytes(found)) else { return }
                code = clmdb_cursor_get(cursor, &key, &found, MDB_NEXT)
            }
            if code != MDB_NOTFOUND { try succeed(code, "mdb_cursor_get") }
        }
    }

    private func withCursor<Value>(
        _ table: MDB_dbi, _ body: (OpaquePointer) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        var cursor: OpaquePointer?
        try succeed(mdb_cursor_open(handle, table, &cursor), "mdb_cursor_open")
        guard let cursor else { throw .closed }
        defer { if !state.isLost { mdb_cursor_close(cursor) } }
        return try body(cursor)
    }

    private func number(_ table: Table, _ keys: Table.Keys) -> MDB_dbi {
        precondition(table.keys == keys, "a table has one kind of keys")
        return opening.tables[table.index]
    }

    /// Checks the way to a key and its value's run of pages, as they were before this transaction: LMDB follows them.
    private func check<Key: TreeKey>(_ table: Table, _ key: Key) throws(StoreError) {
        guard let before else { return }
        do throws(Damage) {
            guard let record = try before.tree.table(table, in: before.main),
                let found = try before.tree.find(key, in: record)
            else { return }
            _ = try before.tree.value(of: found.node, on: found.page)
        } catch {
            throw fail(opening.damaged(error))
        }
    }

    /// Checks the way to the end of a table.
    private func checkEnd(_ table: Table) throws(StoreError) {
        guard let before else { return }
        do throws(Damage) {
            if let record = try before.tree.table(table, in: before.main) { _ = try before.tree.last(record) }
        } catch {
            throw fail(opening.damaged(error))
        }
    }

    private func succeed(_ code: Int32, _ call: StaticString) throws(StoreError) {
        if code == 0 { return }
        if code == Int32(clmdb_asserted) { state.isLost = true }
        throw fail(.from(code, call, path: opening.dataPath))
    }

    private func fail(_ error: StoreError) -> StoreError {
        // LMDB takes nothing more after most errors; a key of the wrong size is the one it forgives.
        if case .unfit = error { return error }
        if state.failure == nil { state.failure = error }
        return error
    }

    private func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
        MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    private func bytes(_ value: MDB_val) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    private func withKey<Value>(
        _ key: UInt64, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        var key = key
        return try withUnsafeBytes(of: &key) { bytes throws(StoreError) in try body(bytes) }
    }
}

private func everyRow(_ node: PageTree.Node, _ value: UnsafeRawBufferPointer) throws(Damage) -> Bool { true }
